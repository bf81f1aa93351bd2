import assert from "node:assert/strict";
import { buildBatch, computeBatchRoot } from "../../../../operations/devices/protocol/mod.ts";

describe("buildBatch()", () => {
  const seenAt = new Date();
  const batchOf = (tenants: number) =>
    buildBatch(
      Array.from({ length: tenants }, (_, n) => ({
        tenant: `tenant-${n}`,
        deviceId: `DEV-${n.toString(16).padStart(12, "0")}`,
        counter: n,
        seenAt,
      })),
    );

  for (const tenants of [1, 2, 3, 5, 8, 13]) {
    it(`lets each of ${tenants} tenants show its own heartbeats`, () => {
      const { root, parts } = batchOf(tenants);
      assert.equal(parts.size, tenants);
      for (const part of parts.values()) assert.deepEqual(computeBatchRoot(part), root);
      const [first] = parts.values();
      const heartbeats = first!.heartbeats.replace('"counter":', '"counter":1');
      assert.notDeepEqual(computeBatchRoot({ ...first!, heartbeats }), root);
    });
  }

  it("gives the parts of ten thousand tenants, by which each computes the root", () => {
    const { root, parts } = batchOf(10_000);
    for (const part of [...parts.values()].slice(0, 20)) {
      assert.deepEqual(computeBatchRoot(part), root);
    }
  });
});
