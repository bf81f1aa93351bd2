import type { Finding } from "../../contract/domain/mod.ts";
import { type FindingRecord, getFindings, setFindingRoots } from "../../store/incidents/mod.ts";
import type { Store } from "../../store/mod.ts";
import type { Groupable } from "./_causes.ts";
import { readServiceGraph } from "./_dependencies.ts";
import type { Deviation } from "./_deviation.ts";
import { listRelated } from "./_related.ts";
import { groupFindings } from "./group.ts";

/**
 * Joins incidents that several places have found: where a service fails with one that it needs at another place, both are
 * one incident, whose root is looked at and repaired at its own place. Names of hosts and addresses join nothing, as each
 * place means its own by `localhost`.
 *
 * Findings that were not seen often enough to count are the places' own: they explain nothing elsewhere.
 *
 * @param store of the tenant whose incidents they are; its findings are told their new roots
 * @param place where services are that belong to none
 */
export async function joinIncidents<Incident extends Finding>(
  store: Store,
  incidents: readonly Incident[],
  place: string,
): Promise<Incident[]> {
  const foundIn = new Map(
    incidents.flatMap((incident) =>
      [incident, ...incident.related ?? []].map(({ fingerprint }) => [fingerprint, incident])
    ),
  );
  const records = await getFindings(store.db, [...foundIn.keys()]);
  const groups = groupFindings(
    [...records.values()].map(toGroupable),
    await readServiceGraph(store, place),
  );
  const joined = groups.map(({ root: { fingerprint }, others, severity }): Incident => {
    const { related: _, ...found } = foundIn.get(fingerprint)!;
    const root = found.fingerprint === fingerprint ? found : toRoot(records.get(fingerprint)!);
    const related = listRelated(others);
    return { ...found, ...root, severity, ...(related.length > 0 ? { related } : {}) } as Incident;
  });
  const rootOf = groups.flatMap(({ root, others }) =>
    others.filter(({ fingerprint }) => records.get(fingerprint)!.root !== root.fingerprint)
      .map(({ fingerprint }) => ({ fingerprint, root: root.fingerprint }))
  );
  await setFindingRoots(store.db, rootOf);
  return joined;
}

/** Returns a finding as the root of an incident, as where it is the worst of a cycle through several places. */
function toRoot(
  { service, detector, kind, code, fingerprint, last_seen_at, place }: FindingRecord,
): Finding {
  return {
    service,
    detector: detector as Finding["detector"],
    check: kind as Finding["check"],
    code,
    fingerprint,
    observed_at: last_seen_at,
    ...(place ? { place } : {}),
  };
}

function toGroupable(
  { service, detector, code, fingerprint, severity, host, detail }: FindingRecord,
): Groupable {
  const deviation = detail.deviation as Deviation | undefined;
  return {
    service,
    detector: detector as Groupable["detector"],
    code,
    fingerprint,
    severity,
    host,
    ...(deviation ? { deviation } : {}),
  };
}
