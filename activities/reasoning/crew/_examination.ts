import {
  createServiceFinding,
  openDetectionContext,
  recheck,
} from "../../../judgement/detection/mod.ts";
import {
  type Examination,
  type Finding,
  type FindingCheck,
  type NumberedObservation,
  say,
  type Text,
} from "../../../contract/domain/mod.ts";
import { type HealthCheck, probe, type Service } from "../../../integrations/host/mod.ts";
import { chooseObservers, judgeCause, observe } from "../../../judgement/observation/mod.ts";
import { getService, isAtPlace } from "../../../store/cmdb/mod.ts";
import {
  type FindingRecord,
  getTicketEvent,
  listObservations,
  listOpenFindings,
  listTickets,
} from "../../../store/incidents/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { findSubject } from "../../incidents/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { MAX_LISTED } from "./_sources.ts";

type Parts = Pick<ActivityParts, "config" | "store" | "temporal" | "alerts">;

/** Observations of a fault. */
interface Collection {
  readonly ticket_id: string | null;
  /** Code of the failed check, or of the finding. */
  readonly code: string;
  readonly observations: readonly NumberedObservation<Text>[];
}

/** Sources whose observations each agent reports. */
const SOURCES: Readonly<
  Record<"logs" | "metrics" | "topology" | "change", readonly NumberedObservation["source"][]>
> = {
  logs: ["output", "log", "unit", "container"],
  metrics: ["check", "process", "port", "storage", "names", "certificate", "device", "runbook"],
  topology: ["dependencies"],
  change: ["changes"],
};

/**
 * Examines services that have a fault: by what their incident's loop has observed, or else by the same sources now. The
 * loop's own rules name the cause, so that both say the same.
 */
export async function examineFaults(
  parts: Parts,
  services: readonly string[],
): Promise<Examination[]> {
  const all = await Promise.all(
    services.slice(0, MAX_LISTED).map(async (service) => {
      const found = await findCollection(parts.store.db, service) ?? await collect(parts, service);
      return found ? [judge(service, found)] : [];
    }),
  );
  return all.flat();
}

function judge(service: string, { ticket_id, code, observations }: Collection): Examination {
  const { cause, says, confidence, category, observations: named, alternatives } = judgeCause(
    service,
    { code, observations },
  );
  return {
    service,
    ticket_id,
    symptom: code,
    cause,
    says,
    cause_confidence: confidence,
    category,
    observations: named,
    alternatives,
    seen: observations.map(({ number, source, code, says }) => ({ number, source, code, says })),
  };
}

/** Finds what the loop of an open incident has observed, in the last round that it has judged. */
async function findCollection(db: Db, service: string): Promise<Collection | undefined> {
  for (const ticket of await listTickets(db, { service, status: "open", limit: MAX_LISTED })) {
    const { ticket_id, run_id } = ticket;
    if (run_id === null) continue;
    const all = await listObservations(db, ticket_id, run_id);
    for (const round of new Set(all.map((one) => one.round).reverse())) {
      const event = await getTicketEvent(db, ticket_id, `${run_id}/diagnosed-${round}`);
      if (!event) continue;
      const observations = all.filter((one) => one.round === round);
      return { ticket_id, code: String(event.data.symptom), observations };
    }
  }
  return undefined;
}

/** Looks at a fault as a loop does. @returns undefined: there is none, or it is at another place */
async function collect(parts: Parts, service: string): Promise<Collection | undefined> {
  const { config, store } = parts;
  const known = await getService(store.db, service);
  if (known && !isAtPlace(known, config.place)) return undefined;
  const finding = await findFault(parts, service);
  if (!finding) return undefined;
  const { code } = finding;
  const subject = await findSubject(store.db, { finding, code });
  const looks = await Promise.all(
    chooseObservers(subject).flat().map(async (source) => {
      const seen = await observe(source, subject, { config, store });
      return seen.map((one) => ({ ...one, round: 1, source }));
    }),
  );
  const observations = looks.flat().map((one, at) => ({ ...one, number: at + 1 }));
  return { ticket_id: null, code, observations };
}

/** Finds the fault of a service: its check fails now, or a detector finds again what it had found. */
async function findFault(parts: Parts, name: string): Promise<Finding | undefined> {
  const { store } = parts;
  const [service, findings] = await Promise.all([
    getService(store.db, name),
    listOpenFindings(store.db),
  ]);
  const now = service?.check ? await probe(service.check as HealthCheck) : undefined;
  if (now && !now.healthy) return await createServiceFinding(store, service as Service, now.code);
  const context = openDetectionContext(parts);
  for (const one of findings.filter((one) => one.service === name).slice(0, MAX_LISTED)) {
    const finding = toFinding(one);
    const { present, code } = await recheck(context, finding, "before") ?? {};
    if (present) return { ...finding, code: code! };
  }
  return undefined;
}

function toFinding(record: FindingRecord): Finding {
  const { service, code, fingerprint, last_seen_at, severity } = record;
  const check = record.kind as FindingCheck;
  return { service, check, code, fingerprint, severity, observed_at: last_seen_at };
}

/** Returns what an agent reports of the examined services, that which names their causes first. */
export function factsOf(
  agent: keyof typeof SOURCES,
  examined: readonly Examination[],
): Text[] {
  return examined.flatMap(({ service, seen, observations }) =>
    seen.filter(({ source }) => SOURCES[agent].includes(source))
      .sort((a, b) =>
        Number(observations.includes(b.number)) - Number(observations.includes(a.number))
      )
      .map(({ number, says }) => say`${service}, observation ${number}: ${says}`)
  );
}
