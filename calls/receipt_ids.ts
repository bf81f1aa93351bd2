import { createHash } from "node:crypto";
import type { RunId } from "../contract/domain/mod.ts";

/** Returns the receipt id of a step of a run: a step that is repeated asks for the same receipt. */
export function receiptIdOf({ workflow_id, run_id }: RunId, step: string): string {
  const text = `${workflow_id}\n${run_id}\n${step}`;
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
