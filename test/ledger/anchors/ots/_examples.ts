/** Examples of the official client. They are under another licence, so they are not part of this project. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../../../../config.ts";

const FOLDER = join(dirname(ROOT), "shared", "data", "ots");

/** True if the examples are on this machine. */
const HAS_EXAMPLES = existsSync(FOLDER);

/** Reads an example. */
export const readExample = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(join(FOLDER, name)));

/** Skips the tests of a suite, and says why, if the examples are absent. */
export function skipWithoutExamples(this: Mocha.Context): void {
  if (HAS_EXAMPLES) return;
  console.error("      skipped: ../shared/data/ots with the official client's examples is absent");
  this.skip();
}
