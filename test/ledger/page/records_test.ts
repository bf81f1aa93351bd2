import assert from "node:assert/strict";
import { canonicalizeItems } from "../../../ledger/rules/mod.ts";
import { pieces, recordsOf, valueOf } from "../../../ledger/page/records.ts";
import { mixedChain } from "../_chains.ts";

const { records } = mixedChain;
const [first] = records;

describe("recordsOf()", () => {
  const forms: Readonly<Record<string, string>> = {
    "a page of the export": `{"from":0,"to":51,"receipts":[${records.join(",")}],"total":51}`,
    "an array": `[${records.join(",")}]`,
    "an array, newest first": `[ ${records.toReversed().join(" ,\n")} ]`,
    "one record a line": `${records.join("\n")}\n`,
  };
  for (const [form, text] of Object.entries(forms)) {
    it(`takes ${form}, each record as it came`, () => {
      assert.deepEqual(recordsOf(text), { records, from: 0 });
    });
  }

  it("takes a single record, and tells where it stands by what it says itself", () => {
    assert.deepEqual(recordsOf(records[30]!), { records: [records[30]], from: 30 });
    assert.deepEqual(recordsOf(first!), { records: [first], from: 0 });
    assert.deepEqual(recordsOf(records[3]!), { records: [records[3]], from: undefined });
  });

  it("refuses what is no export, and says what would be right", () => {
    for (const text of ["", "hello", "{}", '{"a":1}', '"[1]"', "7"]) {
      assert.throws(() => recordsOf(text), /expected a page of \/api\/export/, text);
    }
  });

  it("does not fail on what is only like an export", () => {
    for (const text of ["[", "[1", '{"receipts":[', '[{"a":"', '{"receipts":[}]', "[[[[", '["\\']) {
      try {
        recordsOf(text);
      } catch (error) {
        assert.ok(error instanceof TypeError, text);
      }
    }
  });
});

describe("pieces()", () => {
  it("cuts where JSON has its commas, and nowhere else", () => {
    const items = ['{"a":[1,2],"b":"x,]}"}', '"\\",\\\\"', "[ ]", "1.0", '"\\\\"', "null"];
    assert.deepEqual(pieces(`[${items.join(" , ")}]`), items);
    assert.deepEqual(pieces("[]"), []);
    assert.deepEqual(pieces("{ }"), []);
  });

  it("gives the same values as the reader of canonical text", () => {
    const text = `[${records.join(",")}]`;
    assert.deepEqual(pieces(text).map((piece) => JSON.parse(piece)), JSON.parse(text));
    assert.equal(pieces(text).length, canonicalizeItems(text).length);
  });
});

describe("valueOf()", () => {
  it("gives the text of a value, unread", () => {
    const json = '{"a":1.0,"b" : {"a":2},"c":"\\u0041"}';
    assert.equal(valueOf(json, "a"), "1.0");
    assert.equal(valueOf(json, "b"), '{"a":2}');
    assert.equal(valueOf(json, "c"), '"\\u0041"');
    assert.equal(valueOf(json, "d"), undefined);
  });
});
