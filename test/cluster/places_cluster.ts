/**
 * Faults at three places, each with a machine of its own, and then the loss of a place.
 *
 *     FAULTS=6 npm run test:cluster -- test/cluster/places_cluster.ts
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "../../config.ts";

const FAULTS = process.env.FAULTS ?? "100";

describe("three places", function () {
  this.timeout(1_800_000);

  it("have each fault repaired once, by its own place alone", async () => {
    const command = [join(ROOT, "start.mjs"), "bench/chaos.ts", "places", FAULTS];
    const child = spawn(process.execPath, command, { cwd: ROOT, stdio: "inherit" });
    const [code] = await once(child, "exit");
    assert.equal(code, 0, "it has printed what was wrong");
  });
});
