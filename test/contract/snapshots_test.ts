import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { listStaleSnapshots, takeSnapshots } from "../../scripts/snapshots/mod.ts";

describe("the snapshots of the contract", () => {
  const snapshots = takeSnapshots();

  for (const { path, text } of snapshots) {
    it(`${path} is as clients see it`, () => {
      const [found, wanted] = [readLines(path), text.split("\n")];
      const n = wanted.findIndex((line, n) => line !== found[n]);
      const line = n >= 0 ? n : wanted.length;
      assert.ok(
        n < 0 && found.length === wanted.length,
        `${path} differs from what clients see: its line ${line + 1} is ` +
          `${JSON.stringify(found[line])} and not ${JSON.stringify(wanted[line])}. ` +
          "If the change is meant, run: npm run snapshots",
      );
    });
  }

  it("has no stale files; else run: npm run snapshots", () => {
    assert.deepEqual(listStaleSnapshots(snapshots), []);
  });
});

/** Returns the lines of a snapshot in the project; none if it doesn't exist. */
function readLines(path: string): string[] {
  try {
    return readFileSync(join(ROOT, path), "utf8").split("\n");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
