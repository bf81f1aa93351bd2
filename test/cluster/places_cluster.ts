/**
 * Faults at three places, each with a machine of its own, and then the loss of a place.
 *
 *     FAULTS=6 npm run test:cluster -- test/cluster/places_cluster.ts
 */
import assert from "node:assert/strict";
import { run } from "../../bench/chaos_places.ts";

const FAULTS = process.env.FAULTS ?? "100";

describe("three places", function () {
  this.timeout(1_800_000);

  it("have each fault repaired once, by its own place alone", async () => {
    await run([FAULTS]); // it prints what was wrong
    assert.equal(process.exitCode ?? 0, 0);
  });
});
