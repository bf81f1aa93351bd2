import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../config.ts";
import {
  bundleEvidence,
  formatBundle,
  NODE_PRIMITIVES,
  NOTHING_PINNED,
  readOpenable,
  verifyEvidence,
} from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { testFolder } from "../_run.ts";
import { storeAs } from "../_servers.ts";

/**
 * Opens an approval, a grant or a receipt as the operator, and has both verifiers judge the file, which must hold.
 *
 * @returns what both say, line by line
 */
export async function judgeEvidence(store: Store, what: string): Promise<string[]> {
  const operator = await storeAs(store, "operator");
  const text = formatBundle(await bundleEvidence(operator, await readOpenable(operator, what)));
  const file = join(await testFolder(), "opened.json");
  writeFileSync(file, text);
  const report = await verifyEvidence(text, NOTHING_PINNED, NODE_PRIMITIVES);
  const program = join(ROOT, "ledger", "verify_ledger.py");
  const { stdout } = await promisify(execFile)("python3", [program, "--evidence", file]);
  assert.deepEqual(stdout.trimEnd().split("\n"), report.lines);
  assert.equal(report.exit, 0, report.lines.join("\n"));
  return report.lines.map((line) => line.trim());
}
