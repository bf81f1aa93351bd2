import assert from "node:assert/strict";
import { checkReceipt, NOBLE, passes } from "../../../../ledger/page/checks/mod.ts";
import { faultyChains, mixedChain, vectorKeys } from "../../_chains.ts";

/** Checks the receipt at a position. */
const stepsAt = (records: readonly string[], position: number, asked?: string) =>
  checkReceipt(
    {
      asked,
      position,
      record: records[position]!,
      before: records[position - 1],
      after: records[position + 1],
    },
    vectorKeys,
    NOBLE,
  );

const statesAt = (position: number) =>
  Object.fromEntries(
    stepsAt(mixedChain.records, position).map(({ name, state }) => [name, state]),
  );

describe("checkReceipt()", () => {
  it("passes for every receipt of every era, and names the checks that do not apply", () => {
    mixedChain.records.forEach((_, n) =>
      assert.ok(passes(stepsAt(mixedChain.records, n)), `#${n}`)
    );
    const none = "not_applicable";
    const expected = (hash: string, canonical: string, signature: string) => ({
      Hash: hash,
      "Canonical form": canonical,
      Signature: signature,
      Link: "pass",
      "Next entry": "pass",
    });
    assert.deepEqual(statesAt(3), expected(none, none, none));
    assert.deepEqual(statesAt(8), expected(none, "pass", "pass"));
    assert.deepEqual(statesAt(30), expected("pass", "pass", "pass"));
  });

  for (const { name, breaksAt, records } of faultyChains) {
    it(`fails for ${name}`, () => {
      const steps = stepsAt(records, breaksAt!);
      assert.equal(passes(steps), false);
      assert.ok(steps.some(({ state }) => state === "fail"));
    });
  }

  it("fails for a receipt that pretends to be of an unsigned era", () => {
    const stripped = mixedChain.records[8]!.replace('"schema_version":"2.0",', "");
    assert.notEqual(stripped, mixedChain.records[8]);
    const steps = stepsAt(mixedChain.records.with(8, stripped), 8);
    assert.ok(steps.some(({ state }) => state === "fail"));
    const first = mixedChain.records[0]!.replace("{", '{"canonical_bytes":"00",');
    assert.equal(stepsAt(mixedChain.records.with(0, first), 0)[0]!.name, "Era");
  });

  it("fails for another receipt than requested", () => {
    const { id } = JSON.parse(mixedChain.records[30]!);
    assert.ok(passes(stepsAt(mixedChain.records, 30, id)));
    assert.equal(passes(stepsAt(mixedChain.records, 30, `${id}0`)), false);
    assert.equal(passes(stepsAt(mixedChain.records, 30, id.slice(0, 8))), false);
  });

  it("does not check the link if the entry before is not available", () => {
    const [record] = mixedChain.records.slice(30);
    const receipt = { position: 30, record: record!, before: undefined, after: undefined };
    const steps = checkReceipt(receipt, vectorKeys, NOBLE);
    assert.equal(steps.find(({ name }) => name === "Link")?.state, "not_checked");
    assert.equal(passes(steps), false);
  });

  it("has a single failed step for a record that is not JSON", () => {
    const receipt = { position: 0, record: "<html>", before: undefined, after: undefined };
    assert.deepEqual(checkReceipt(receipt, vectorKeys, NOBLE).map(({ state }) => state), ["fail"]);
  });
});
