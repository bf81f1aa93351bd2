import type { Config } from "../../../config.ts";
import { findLoggedErrors } from "../../../judgement/detection/mod.ts";
import {
  type AgentReport,
  type CrewScope,
  type Examination,
  say,
  type Text,
} from "../../../contract/domain/mod.ts";
import { listOpenFindings } from "../../../store/incidents/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { factsOf } from "./_examination.ts";
import { MAX_LISTED, serviceSource } from "./_sources.ts";

/** Age of the oldest errors that count. */
const MAX_AGE_MS = 3_600_000;
const ERRORS_WEIGHT = 0.4;
const FINDING_WEIGHT = 0.5;

/** Errors in the logs of a service. */
interface ServiceErrors {
  readonly service: string;
  /** A sentence for each known log. */
  readonly says: readonly Text[];
  /** Number of lines with errors. */
  readonly errors: number;
}

/**
 * Reports what was observed in output and logs of services that have a fault, the errors in the logs of the others, and the
 * findings of the log detector.
 */
export async function reportLogs(
  { config, store }: Pick<ActivityParts, "config" | "store">,
  { services, round }: CrewScope,
  examined: readonly Examination[],
): Promise<AgentReport> {
  const others = services.filter((name) => !examined.some(({ service }) => service === name));
  const logs = await Promise.all(others.map((name) => readServiceErrors(config, name)));
  const findings = (await listOpenFindings(store.db))
    .filter(({ kind, service }) =>
      kind === "log" && (service === null || services.includes(service))
    ).slice(0, MAX_LISTED);
  const affected = findings.flatMap(({ service }) => service ?? []);
  return {
    agent: "logs",
    round,
    says: [
      ...factsOf("logs", examined),
      ...logs.flatMap(({ says }) => says),
      ...(findings.length === 0
        ? [say`no finding of the log detector is open on them`]
        : findings.map(({ summary, sightings }) => say`${summary} (${sightings} times)`)),
    ],
    sources: [
      ...logs.filter(({ says }) => says.length > 0).map(({ service }) => serviceSource(service)),
      ...affected.map(serviceSource),
    ],
    suspects: [
      ...logs.filter(({ errors }) => errors > 0).map(({ service }) => {
        return {
          service,
          weight: ERRORS_WEIGHT,
          why: say`its log tells of errors within the hour`,
        };
      }),
      ...affected.map((service) => {
        return { service, weight: FINDING_WEIGHT, why: say`a finding about its log is open` };
      }),
    ],
  };
}

async function readServiceErrors(config: Config, service: string): Promise<ServiceErrors> {
  const since = new Date(Date.now() - MAX_AGE_MS);
  const logs = await findLoggedErrors({ config, service, since });
  return {
    service,
    says: logs.map(({ log, count, mostFrequent }) =>
      count === 0
        ? say`the log ${log} of ${service} tells of no error within the hour`
        : say`the log ${log} of ${service} tells of ${count} errors within the hour, most often: ${mostFrequent}`
    ),
    errors: logs.reduce((sum, { count }) => sum + count, 0),
  };
}
