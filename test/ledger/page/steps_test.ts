import assert from "node:assert/strict";
import { NOBLE } from "../../../ledger/page/browser/primitives.ts";
import { holds, stepsOf } from "../../../ledger/page/steps.ts";
import { faultyChains, mixedChain, vectorKeys } from "../_chains.ts";

/** The steps of the receipt at a position, as its page shows them. */
const stepsAt = (records: readonly string[], position: number, asked?: string) =>
  stepsOf(
    {
      ...{ asked, position, record: records[position]! },
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

describe("stepsOf()", () => {
  it("lets every receipt of every era hold, and says what its era can't be asked for", () => {
    mixedChain.records.forEach((_, n) => assert.ok(holds(stepsAt(mixedChain.records, n)), `#${n}`));
    const none = "not_applicable";
    const rest = { "Link": "pass", "Next entry": "pass" };
    assert.deepEqual(statesAt(3), { Hash: none, "Canonical form": none, Signature: none, ...rest });
    assert.deepEqual(statesAt(8), {
      ...{ Hash: none, "Canonical form": "pass", Signature: "pass" },
      ...rest,
    });
    assert.deepEqual(statesAt(30), {
      ...{ Hash: "pass", "Canonical form": "pass", Signature: "pass" },
      ...rest,
    });
  });

  for (const { name, breaksAt, records } of faultyChains) {
    it(`shows what does not hold where the fault is ${name}`, () => {
      const steps = stepsAt(records, breaksAt!);
      assert.equal(holds(steps), false);
      assert.ok(steps.some(({ state }) => state === "fail"));
    });
  }

  it("is not deceived by a receipt that pretends to be of an era which signed nothing", () => {
    const stripped = mixedChain.records[8]!.replace('"schema_version":"2.0",', "");
    assert.notEqual(stripped, mixedChain.records[8]);
    const steps = stepsAt(mixedChain.records.with(8, stripped), 8);
    assert.ok(steps.some(({ state }) => state === "fail"));
    const first = mixedChain.records[0]!.replace("{", '{"canonical_bytes":"00",');
    assert.equal(stepsAt(mixedChain.records.with(0, first), 0)[0]!.name, "Era");
  });

  it("does not take another receipt for the one that was asked for", () => {
    const { id } = JSON.parse(mixedChain.records[30]!);
    assert.ok(holds(stepsAt(mixedChain.records, 30, id)));
    assert.equal(holds(stepsAt(mixedChain.records, 30, `${id}0`)), false);
    assert.equal(holds(stepsAt(mixedChain.records, 30, id.slice(0, 8))), false);
  });

  it("says that the link is not checked where the entry before is not there", () => {
    const [record] = mixedChain.records.slice(30);
    const exhibit = { position: 30, record: record!, before: undefined, after: undefined };
    const steps = stepsOf(exhibit, vectorKeys, NOBLE);
    assert.equal(steps.find(({ name }) => name === "Link")?.state, "not_checked");
    assert.equal(holds(steps), false);
  });

  it("shows a record that is no JSON as broken, and as nothing else", () => {
    const exhibit = { position: 0, record: "<html>", before: undefined, after: undefined };
    assert.deepEqual(stepsOf(exhibit, vectorKeys, NOBLE).map(({ state }) => state), ["fail"]);
  });
});
