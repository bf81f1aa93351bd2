/** Real proofs, published with the official client under another licence, so not part of this project. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../../../../config.ts";

const FOLDER = join(dirname(ROOT), "shared", "data", "ots");

/** Whether they are there. */
export const HAVE_FILES = existsSync(FOLDER);

/** Bytes of one of them. */
export const file = (name: string): Uint8Array => new Uint8Array(readFileSync(join(FOLDER, name)));

/** Skips the tests of a suite, and says why, where the files are absent. */
export function needsFiles(this: Mocha.Context): void {
  if (HAVE_FILES) return;
  console.error("      skipped: ../shared/data/ots with the official client's examples is absent");
  this.skip();
}
