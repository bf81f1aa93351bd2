/** Faults as they look from outside: titles and first sentences by the codes of findings. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../../config.ts";
import { matchesGlob } from "../../../integrations/files/mod.ts";

/** A fault as it looks from outside. */
export interface Symptom {
  readonly codes: readonly string[];
  readonly title: string;
  readonly seen: string;
  /** Article of the knowledge base about it. */
  readonly article?: string;
}

const SYMPTOMS: readonly Symptom[] = parse(
  readFileSync(join(ROOT, "operations", "articles", "writing", "symptoms.yaml"), "utf8"),
);

/** Returns the symptom of a finding, by its code; undefined: people reported it. */
export function findSymptom(code: string): Symptom | undefined {
  return SYMPTOMS.find(({ codes }) => codes.some((glob) => matchesGlob(glob, code)));
}
