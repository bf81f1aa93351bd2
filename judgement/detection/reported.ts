import { describeUnknownName, Problem } from "../../contract/mod.ts";
import { type Finding, RESTART_ASKED } from "../../contract/domain/mod.ts";
import { probe, type ProbeResult, type Service } from "../../integrations/host/mod.ts";
import { type Db, fingerprintFault, type Store } from "../../store/mod.ts";
import { getService, isAtPlace, listServiceNames } from "../../store/cmdb/mod.ts";
import type { DetectionContext } from "./detector.ts";
import { createServiceFinding } from "./findings.ts";

/** A report by a person or program. At least one of its first two fields is present. */
export interface Report {
  /** Free text. */
  readonly incident?: string | undefined;
  /** Name of the affected service. */
  readonly service?: string | undefined;
  /** Why the service is to be restarted although it passes its check; absent: it is not asked for. */
  readonly restart?: string | undefined;
  /** Requesting key, as `key:<id>`. */
  readonly requestedBy: string;
}

/** Most services that a refusal lists. */
const MAX_LISTED_NAMES = 50;

/**
 * Creates the finding of a report. A service with a check that the report names is probed, or was by its place if that is another
 * one; where it passes, and a restart is
 * asked for, the finding is that. Any other report becomes a finding for people.
 *
 * @throws {Problem} `NotFound`: there is no service of that name; `Conflict`: nobody could tell whether the restart went well
 */
export async function createReportedFinding(
  { store, config: { place } }: Pick<DetectionContext, "store" | "config">,
  { incident, service, restart, requestedBy }: Report,
): Promise<Finding> {
  const known = await reportedService(store.db, service, incident ?? "");
  const words = incident ?? restart;
  const report = {
    requested_by: requestedBy,
    ...(words === undefined ? {} : { report: words }),
  };
  if (restart !== undefined && !known?.check) throw noCheck(service!);
  if (known?.check) {
    const { code, healthy } = isAtPlace(known, place) ? await probe(known.check) : lastSeen(known);
    if (restart !== undefined && healthy) {
      return await createRestartFinding(store, known.name, { report: restart, requestedBy });
    }
    return { ...await createServiceFinding(store, known, code), ...report };
  }
  return {
    service: known?.name ?? null,
    check: "report",
    code: "reported",
    fingerprint: await fingerprintFault(store, "report", incident ?? ""),
    observed_at: new Date().toISOString(),
    ...report,
  };
}

/** Returns how a service was when its place looked last. The loop has it look again. */
function lastSeen({ status }: Service): Pick<ProbeResult, "code" | "healthy"> {
  const healthy = status === "up";
  return { healthy, code: healthy ? "ok" : "down" };
}

async function createRestartFinding(
  store: Store,
  service: string,
  { report, requestedBy }: { readonly report: string; readonly requestedBy: string },
): Promise<Finding> {
  return {
    service,
    check: "report",
    code: RESTART_ASKED,
    fingerprint: await fingerprintFault(store, service, RESTART_ASKED),
    observed_at: new Date().toISOString(),
    severity: "low",
    requested_by: requestedBy,
    report,
  };
}

function noCheck(service: string): Problem {
  return new Problem(
    "Conflict",
    `Cannot restart ${service} with a reason: it has no check, so that nobody could tell whether it is healthy afterwards`,
  );
}

/** Refuses a service that the service graph does not know. @throws {Problem} `NotFound` */
export async function checkReportedService(db: Db, service: string): Promise<void> {
  await reportedService(db, service, "");
}

async function reportedService(
  db: Db,
  service: string | undefined,
  incident: string,
): Promise<Service | undefined> {
  const name = service ?? longestNameIn(incident, await listServiceNames(db));
  const known = name === undefined ? undefined : await getService(db, name);
  if (service === undefined || known) return known as Service | undefined;
  const names = await listServiceNames(db);
  const listed = `there are ${names.slice(0, MAX_LISTED_NAMES).join(", ")}`;
  throw new Problem("NotFound", describeUnknownName("service", service, names, listed));
}

/** Returns the longest name that is a word of the text, in any case. */
function longestNameIn(text: string, names: readonly string[]): string | undefined {
  const words = new Set(
    text.toLowerCase().split(/[^a-z0-9._-]+/).map((word) => word.replace(/[.]+$/, "")),
  );
  return names.filter((name) => words.has(name.toLowerCase()))
    .sort((a, b) => b.length - a.length)[0];
}
