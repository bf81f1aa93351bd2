import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { takeSnapshots } from "../../scripts/snapshots/mod.ts";

describe("the snapshots of the contract", () => {
  for (const { path, text } of takeSnapshots()) {
    it(`${path} is as clients see it; else run: npm run snapshots`, () => {
      assert.equal(readFileSync(join(ROOT, path), "utf8"), text);
    });
  }
});
