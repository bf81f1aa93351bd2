import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import type { Case } from "./_case.ts";

/** The files of opened evidence that all verifiers are held against. */
export const VECTORS_FILE = join(ROOT, "test", "vectors", "opened-evidence.json");

/** Reads the vectors. */
export function readVectors(): {
  readonly trust: Readonly<Record<"pinned" | "another", unknown>>;
  readonly cases: readonly Case[];
} {
  return JSON.parse(readFileSync(VECTORS_FILE, "utf8"));
}
