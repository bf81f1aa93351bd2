import assert from "node:assert/strict";
import { verifyInParallel } from "../../../ledger/verify/mod.ts";
import { faultyChains, mixedChain, vectorKeys } from "../_chains.ts";

describe("verifyInParallel()", () => {
  for (const { name, records, breaksAt } of [mixedChain, ...faultyChains]) {
    it(`returns the same on two threads as on one for ${name}`, async () => {
      const bytes = records.map((record) => Buffer.from(record));
      const single = await verifyInParallel(batches(bytes, 500), vectorKeys, { threads: 1 });
      const parallel = await verifyInParallel(batches(bytes, 3), vectorKeys, { threads: 2 });
      assert.deepEqual(parallel, single);
      assert.equal(single.firstBreaks[0]?.position, breaksAt);
    });
  }
});

async function* batches(records: readonly Buffer[], size: number) {
  for (let n = 0; n < records.length; n += size) yield records.slice(n, n + size);
}
