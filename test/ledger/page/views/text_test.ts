import assert from "node:assert/strict";
import {
  daysChart,
  h,
  indentJson,
  showText,
  showTime,
  toHtml,
} from "../../../../ledger/page/views/mod.ts";

describe("toHtml()", () => {
  it("escapes text in content and attributes", () => {
    const hostile = `<script>"'&</script>`;
    const html = toHtml(h("p", { title: hostile }, hostile));
    assert.equal(
      html,
      '<p title="&lt;script&gt;&quot;&#39;&amp;&lt;/script&gt;">&lt;script&gt;&quot;&#39;&amp;&lt;/script&gt;</p>',
    );
  });

  it("leaves out false and undefined", () => {
    const html = toHtml([h("input", { required: true, hidden: false, id: undefined }), false, 0, [
      undefined,
      "a",
    ]]);
    assert.equal(html, "<input required>0a");
  });
});

describe("showText()", () => {
  const html = (text: string, most?: number) => toHtml(showText(text, most));

  it("names invisible characters and marks of direction, and keeps all others", () => {
    assert.equal(html("a\u202eb"), '<bdi>a<span class="odd">U+202E</span>b</bdi>');
    assert.equal(html("\u0000\u{e0041}").match(/U\+\w+/g)!.join(), "U+0000,U+E0041");
    for (const text of ["Grüße, 你好", "שלום", "👩‍🚀", "नमस्ते", "a\nb\tc"]) {
      assert.equal(html(text), `<bdi>${text}</bdi>`);
    }
  });

  it("cuts long text, and says how much is left out", () => {
    assert.match(html("x".repeat(1_000_000), 100), /^<bdi>x{100}<.*999,900 more characters/);
    assert.ok(html("👩".repeat(3), 3).isWellFormed());
  });

  it("replaces half of a surrogate pair", () => {
    assert.ok(html("a\ud800b").isWellFormed());
  });
});

describe("indentJson()", () => {
  it("changes only the space between tokens", () => {
    const json = '{"a":1.0,"b":[1e+16,{"c":"{\\"x\\":[1,2]}"}],"d":{},"e":[]}';
    const lines = indentJson(json);
    assert.ok(lines.includes("1.0") && lines.includes("1e+16"));
    assert.ok(lines.includes('"{\\"x\\":[1,2]}"'));
    assert.deepEqual(JSON.parse(lines), JSON.parse(json));
    assert.equal(lines.split("\n").length, 11);
  });
});

describe("showTime()", () => {
  it("shows a time in UTC, and other text unchanged", () => {
    assert.match(toHtml(showTime("2026-07-01T14:00:00+02:00")), />2026-07-01 12:00:00 UTC</);
    assert.match(toHtml(showTime("2026-99-99T00:00:00Z")), /<bdi>2026-99-99T00:00:00Z/);
    assert.match(toHtml(showTime("<now>")), /&lt;now&gt;/);
  });
});

describe("daysChart()", () => {
  it("ignores receipts that claim a future day, or none", () => {
    const days = new Map([["2026-07-01", 2], ["9999-12-31", 1], ["2026-02-31", 1], ["", 3]]);
    assert.match(toHtml(daysChart(days, "2026-07-02")), /2 receipts from 2026-06-02 to 2026-07-01/);
  });
});
