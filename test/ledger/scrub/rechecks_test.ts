import assert from "node:assert/strict";
import { countRechecks } from "./_rechecks.ts";

describe("watchChain() with rechecks", () => {
  it("verifies the whole chain in each recheck beside sealing, and reports no false break", async () => {
    const counts = await countRechecks(({ overlapping, falseBreaks }) =>
      overlapping >= 3 || falseBreaks.length > 0
    );
    assert.deepEqual(counts.falseBreaks, []);
    assert.equal(counts.partial, 0);
    assert.ok(counts.rechecks >= 3);
  });
});
