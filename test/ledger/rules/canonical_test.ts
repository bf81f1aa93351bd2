import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { canonicalize, canonicalizeText, NotCanonical } from "../../../ledger/rules/mod.ts";

const vectors: { json: string; canonical: string; sha256: string }[] = JSON.parse(
  readFileSync(new URL("../../vectors/canonical-json.json", import.meta.url), "utf8"),
);

describe("canonicalizeText()", () => {
  for (const { json, canonical, sha256 } of vectors) {
    it(`gives Python's bytes for ${json.replace(/\s+/g, " ").slice(0, 50)}`, () => {
      assert.equal(canonicalizeText(json), canonical);
      assert.equal(createHash("sha256").update(canonical).digest("hex"), sha256);
    });
  }

  const refused: [string, string][] = [
    ["a duplicate key", '{"a":1,"a":2}'],
    ["half a surrogate pair", '"\\ud800"'],
    ["U+0000", '"\\u0000"'],
    ["a number beyond a double", "1e999"],
    ["NaN", "NaN"],
    ["an integer of 4,301 digits", "1".repeat(4301)],
    ["65 levels", "[".repeat(65) + "]".repeat(65)],
    ["a leading zero", "01"],
    ["a trailing comma", "[1,]"],
    ["two values", "1 2"],
    ["a raw control character", '"\n"'],
    ["nothing", ""],
  ];
  for (const [what, json] of refused) {
    it(`refuses ${what}`, () => assert.throws(() => canonicalizeText(json), NotCanonical));
  }

  it("takes 64 levels and an integer of 4,300 digits", () => {
    for (const json of ["[".repeat(64) + "]".repeat(64), "7".repeat(4300)]) {
      assert.equal(canonicalizeText(json), json);
    }
  });
});

describe("canonicalize()", () => {
  it("gives for a value what canonicalizeText() gives for its JSON", () => {
    for (const { json } of vectors) {
      const value = JSON.parse(json);
      assert.equal(canonicalize(value), canonicalizeText(JSON.stringify(value)));
    }
  });

  it("keeps the key __proto__", () => {
    assert.equal(canonicalize(JSON.parse('{"__proto__":1,"a":2}')), '{"__proto__":1,"a":2}');
  });

  for (const value of [NaN, Infinity, 1n, () => 1, "\ud800", "a\0b"]) {
    it(`refuses ${typeof value} ${JSON.stringify(String(value))}`, () => {
      assert.throws(() => canonicalize(value), NotCanonical);
    });
  }
});
