import assert from "node:assert/strict";
import { findValue, splitExport, splitJson } from "../../../../ledger/page/checks/mod.ts";
import { canonicalizeItems } from "../../../../ledger/rules/mod.ts";
import { mixedChain } from "../../_chains.ts";

const { records } = mixedChain;
const [first] = records;

describe("splitExport()", () => {
  const forms: Readonly<Record<string, string>> = {
    "a page of the export": `{"from":0,"to":51,"receipts":[${records.join(",")}],"total":51}`,
    "an array": `[${records.join(",")}]`,
    "an array, newest first": `[ ${records.toReversed().join(" ,\n")} ]`,
    "one record per line": `${records.join("\n")}\n`,
  };
  for (const [form, text] of Object.entries(forms)) {
    it(`splits ${form} without changing records`, () => {
      const { total, ...split } = splitExport(text);
      assert.deepEqual(split, { records, from: 0 });
      assert.equal(total, text.includes('"total":51') ? 51 : undefined);
    });
  }

  it("accepts a single record, at the position that it claims", () => {
    assert.deepEqual(splitExport(records[30]!), { records: [records[30]], from: 30 });
    assert.deepEqual(splitExport(first!), { records: [first], from: 0 });
    assert.deepEqual(splitExport(records[3]!), { records: [records[3]], from: undefined });
  });

  it("refuses other texts, and says what is expected", () => {
    for (const text of ["", "hello", "{}", '{"a":1}', '"[1]"', "7"]) {
      assert.throws(() => splitExport(text), /expected a page of \/api\/export/, text);
    }
  });

  it("throws nothing but TypeError for malformed exports", () => {
    for (const text of ["[", "[1", '{"receipts":[', '[{"a":"', '{"receipts":[}]', "[[[[", '["\\']) {
      try {
        splitExport(text);
      } catch (error) {
        assert.ok(error instanceof TypeError, text);
      }
    }
  });
});

describe("splitJson()", () => {
  it("splits at the commas of the outer value only", () => {
    const items = ['{"a":[1,2],"b":"x,]}"}', '"\\",\\\\"', "[ ]", "1.0", '"\\\\"', "null"];
    assert.deepEqual(splitJson(`[${items.join(" , ")}]`), items);
    assert.deepEqual(splitJson("[]"), []);
    assert.deepEqual(splitJson("{ }"), []);
  });

  it("returns the same values as the canonical parser", () => {
    const text = `[${records.join(",")}]`;
    assert.deepEqual(splitJson(text).map((part) => JSON.parse(part)), JSON.parse(text));
    assert.equal(splitJson(text).length, canonicalizeItems(text).length);
  });
});

describe("findValue()", () => {
  it("returns the text of a value without parsing it", () => {
    const json = '{"a":1.0,"b" : {"a":2},"c":"\\u0041"}';
    assert.equal(findValue(json, "a"), "1.0");
    assert.equal(findValue(json, "b"), '{"a":2}');
    assert.equal(findValue(json, "c"), '"\\u0041"');
    assert.equal(findValue(json, "d"), undefined);
  });
});
