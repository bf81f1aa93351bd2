import { createHash } from "node:crypto";
import { heartbeat } from "@temporalio/activity";
import { kindOf, probe, type ProbeResult } from "../integrations/mod.ts";
import { noteSightings, type Store, watchedServices } from "../store/mod.ts";
import type { Finding } from "../workflows/mod.ts";
import type { ActivityParts, Service } from "./_parts.ts";

/** What a sweep over the services gave. */
export interface Sweep {
  readonly probed: number;
  readonly findings: readonly Finding[];
}

const AT_ONCE = 32;
/** The platform's own parts start and stop together with the sweep, so one failed look at them says nothing. */
const FAILURES_THAT_COUNT = { platform: 2, file: 1, test: 1 } as const;

/** The step before any loop. */
export function sweeping({ store }: ActivityParts) {
  return { probeServices: () => probeServices(store, (probed) => heartbeat(probed)) };
}

/**
 * Probes every watched service, some at a time. Opens no tickets.
 *
 * @param beat called after each probe
 */
export async function probeServices(
  store: Store,
  beat: (probed: number) => void = () => {},
): Promise<Sweep> {
  const started = performance.now();
  const services = await watchedServices(store.knex) as Service[];
  const results = new Map<Service, ProbeResult>();
  const queue = [...services];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let service = queue.shift(); service; service = queue.shift()) {
      results.set(service, await probe(service.check!));
      beat(results.size);
    }
  }));
  const failures = await noteSightings(
    store.knex,
    [...results].map(([{ name }, { healthy }]) => ({ name, healthy })),
  );
  const findings = [...results].flatMap(([service, result]) =>
    !result.healthy && (failures.get(service.name) ?? 0) >= FAILURES_THAT_COUNT[service.origin]
      ? [findingOf(service, result.code)]
      : []
  );
  await store.knex("detections").insert({
    detector: "service_probes",
    last_run_at: new Date(),
    duration_ms: performance.now() - started,
    probed: services.length,
    findings: findings.length,
  }).onConflict("detector").merge();
  return { probed: services.length, findings };
}

/** The finding that a service fails its check. The same service and kind of check is the same fault. */
export function findingOf({ name, check }: Service, code: string): Finding {
  const kind = kindOf(check!);
  return {
    service: name,
    check: kind,
    code,
    fingerprint: createHash("sha256").update(`${name}\n${kind}`).digest("hex").slice(0, 16),
    observed_at: new Date().toISOString(),
  };
}
