import type { RelatedFinding } from "../../contract/domain/mod.ts";

/** Most findings that an incident lists as related. */
const MAX_RELATED = 100;

/** Lists what an incident's root probably causes, as the incident has it. */
export function listRelated(others: readonly RelatedFinding[]): RelatedFinding[] {
  return others.slice(0, MAX_RELATED)
    .map(({ service, code, fingerprint }) => ({ service, code, fingerprint }));
}
