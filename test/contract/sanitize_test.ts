import assert from "node:assert/strict";
import { toLine } from "../../contract/mod.ts";

describe("toLine()", () => {
  it("makes one line of a text, whatever breaks lines in it", () => {
    for (const end of ["\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029", "\n\n \t"]) {
      assert.equal(toLine(`a${end}b`), "a b", JSON.stringify(end));
    }
  });

  it("spells out what steers a terminal or can't be seen", () => {
    assert.equal(toLine("\u001b[31mred\u009b2J\b"), "⟨U+001B⟩[31mred⟨U+009B⟩2J⟨U+0008⟩");
    assert.equal(toLine("a\u202eb\u2066c\u200bd"), "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200B⟩d");
  });

  it("keeps what people write", () => {
    for (const text of ["Störung im Gebäude 3", "日本語", "🔥 50 % of €3"]) {
      assert.equal(toLine(text), text);
    }
  });
});
