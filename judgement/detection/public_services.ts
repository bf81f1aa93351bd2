/** Public facts of the services that the operator names so: the name, and the sightings of each. */
import { LOOP_ACTOR } from "../../contract/domain/mod.ts";
import { randomHex, requestSeal } from "../../ledger/mod.ts";
import { MAX_GAP_MS, type ObservedPeriod, replacePublicNames } from "../../store/cmdb/mod.ts";
import type { Db } from "../../store/mod.ts";

/**
 * Makes the public names of a services file exactly these, and seals each change.
 *
 * @param names service → public name
 * @param source of the file, whose services are stored already
 */
export async function publishNames(
  trx: Db,
  names: ReadonlyMap<string, string>,
  source: string,
): Promise<void> {
  const changes = await replacePublicNames(trx, names, source, () => `SVC-${randomHex(12)}`);
  for (const { id, name, published } of changes) {
    await requestSeal(trx, {
      category: "service_published",
      actor: LOOP_ACTOR,
      subject: id,
      action: "status.name",
      outcome: published ? "public" : "private",
      details: published ? { service_id: id, name } : { service_id: id },
    });
  }
}

/** Seals what probes have seen of public services, a receipt a period. */
export async function sealObservations(
  trx: Db,
  periods: readonly ObservedPeriod[],
): Promise<void> {
  for (const { id, from, to, probes, failed, observedMs, upMs } of periods) {
    await requestSeal(trx, {
      category: "service_observed",
      actor: LOOP_ACTOR,
      subject: id,
      action: "status.observe",
      outcome: failed === 0 ? "up" : failed === probes ? "down" : "partly_up",
      details: {
        service_id: id,
        from: from.toISOString(),
        to: to.toISOString(),
        probes,
        failed,
        observed_ms: observedMs,
        up_ms: upMs,
        max_gap_ms: MAX_GAP_MS,
      },
    });
  }
}
