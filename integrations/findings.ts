import { createHash } from "node:crypto";
import {
  noteDetection,
  noteSightings,
  type ServiceRecord,
  type Store,
  watchedServices,
} from "../store/mod.ts";
import { type HealthCheck, kindOf, probe, type ProbeResult } from "./probe.ts";
import type { Restart } from "./restart.ts";

/** A service with its check and its runbook. */
export type Service = ServiceRecord<HealthCheck, Restart>;

/** A service fails its check. */
export interface ServiceFinding {
  readonly service: string;
  readonly check: "http" | "tcp" | "command";
  /** As {@linkcode ProbeResult} has it. */
  readonly code: string;
  /** First 16 hex of SHA-256 over service and kind of check: the same fault has the same. */
  readonly fingerprint: string;
  /** ISO 8601. */
  readonly observed_at: string;
}

/** What a look at every watched service gave. */
export interface Sweep {
  readonly probed: number;
  readonly findings: readonly ServiceFinding[];
}

/** Name under which the store keeps when the probes last ran. */
export const SERVICE_PROBES = "service_probes";

const AT_ONCE = 32;
/** The platform's own parts start and stop together with the sweep, so one failed look at them says nothing. */
const FAILURES_THAT_COUNT = { platform: 2, file: 1, test: 1 } as const;

/** Probes every watched service, some at a time, and notes what it sees. Opens no tickets. */
export async function probeAll(store: Store): Promise<Sweep> {
  const started = performance.now();
  const services = await watchedServices(store.knex) as Service[];
  const results = await probeEach(services);
  const failures = await noteSightings(
    store.knex,
    [...results].map(([{ name }, { healthy }]) => ({ name, healthy })),
  );
  const counts = ({ name, origin }: Service) =>
    (failures.get(name) ?? 0) >= FAILURES_THAT_COUNT[origin];
  const findings = [...results].flatMap(([service, { healthy, code }]) =>
    !healthy && counts(service) ? [findingOf(service, code)] : []
  );
  await noteDetection(store.knex, {
    detector: SERVICE_PROBES,
    duration_ms: performance.now() - started,
    probed: services.length,
    findings: findings.length,
  });
  return { probed: services.length, findings };
}

async function probeEach(services: readonly Service[]): Promise<Map<Service, ProbeResult>> {
  const results = new Map<Service, ProbeResult>();
  const queue = [...services];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let service = queue.shift(); service; service = queue.shift()) {
      results.set(service, await probe(service.check!));
    }
  }));
  return results;
}

/** The finding that a service fails its check. */
export function findingOf({ name, check }: Service, code: string): ServiceFinding {
  const kind = kindOf(check!);
  const fingerprint = createHash("sha256").update(`${name}\n${kind}`).digest("hex").slice(0, 16);
  return { service: name, check: kind, code, fingerprint, observed_at: new Date().toISOString() };
}
