import type { Finding } from "../../contract/domain/mod.ts";
import type { Subject } from "../../judgement/observation/mod.ts";
import { getRunbookValues } from "../../store/catalogue/mod.ts";
import { getFinding } from "../../store/incidents/mod.ts";
import type { Db } from "../../store/mod.ts";
import { findService, isLocal } from "./_services.ts";

/** Time before a fault was found from which lines of logs may be about it. */
const BEFORE_MS = 5 * 60_000;

/** Returns what sources look at: a fault, and what is known of its service. @param code of the last look */
export async function findSubject(
  db: Db,
  { finding, code }: { readonly finding: Finding; readonly code: string },
): Promise<Subject> {
  const { service: name, fingerprint, observed_at } = finding;
  const [record, service, values] = await Promise.all([
    getFinding(db, fingerprint),
    name === null ? undefined : findService(db, name),
    name === null ? {} : getRunbookValues(db, name),
  ]);
  const found = Date.parse(record?.first_seen_at ?? observed_at);
  return {
    finding,
    code,
    service,
    isLocal: service !== undefined && isLocal(service),
    record,
    values,
    since: new Date(found - BEFORE_MS),
  };
}
