import type { Store } from "../../store/mod.ts";
import {
  type DecisionBasis,
  listUndoneDecisions,
  readDecisionBasis,
} from "../../store/incidents/mod.ts";

/** Changes, for people. */
const WORDS: Readonly<Record<keyof DecisionBasis, string>> = {
  runbooks: "the runbooks in force have changed",
  commands: "the list of allowed commands has changed",
  service: "the service's entry has changed",
  values: "the values that runbooks are given for the service have changed",
  policy: "the policy of the guardrails has changed",
};

/**
 * Finds the faults that were left to people and about which the loop may decide otherwise now, once a change: the next
 * diagnosis rests on what is there then.
 *
 * @returns what has changed, by the fault's fingerprint: a part of a sentence
 */
export async function findRetries(
  { db }: Store,
  fingerprints: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const retries = new Map<string, string>();
  for (
    const { fingerprint, service, basis } of await listUndoneDecisions(db, fingerprints)
  ) {
    const now = await readDecisionBasis(db, service);
    const changed = (Object.keys(WORDS) as (keyof DecisionBasis)[])
      .filter((part) => now[part] !== basis[part]);
    if (changed.length > 0) {
      retries.set(fingerprint, changed.map((part) => WORDS[part]).join(", and "));
    }
  }
  return retries;
}
