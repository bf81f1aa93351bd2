import type {
  AgentReport,
  CrewRequest,
  CrewScope,
  Examination,
  Triage,
  Verification,
} from "../../../contract/domain/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { reportChanges } from "./_changes.ts";
import { examineFaults } from "./_examination.ts";
import { reportLogs } from "./_logs.ts";
import { reportMetrics } from "./_metrics.ts";
import { reportTopology } from "./_topology.ts";
import { reportTriage } from "./_triage.ts";
import { reportVerification } from "./_verification.ts";

/** Creates the activities of the crew's agents. All are safe to repeat: they only read. */
export function crewActivities(parts: ActivityParts) {
  /** Classifies an incident, and finds the services that it concerns. */
  async function triageIncident(
    { incident }: Pick<CrewRequest, "incident">,
  ): Promise<Triage> {
    return await reportTriage(parts, incident);
  }

  /** Looks at the services that have a fault as the loop does, or takes what it has observed. */
  async function examineServices({ services }: CrewScope): Promise<Examination[]> {
    return await examineFaults(parts, services);
  }

  /** Reads the services' logs, and the findings of the log detector. */
  async function inspectLogs(
    scope: CrewScope,
    examined: readonly Examination[],
  ): Promise<AgentReport> {
    return await reportLogs(parts, scope, examined);
  }

  /** Probes the services, and compares with their last probes. */
  async function inspectMetrics(
    scope: CrewScope,
    examined: readonly Examination[],
  ): Promise<AgentReport> {
    return await reportMetrics(parts, scope, examined);
  }

  /** Finds the services' dependencies that are down. */
  async function inspectTopology(
    scope: CrewScope,
    examined: readonly Examination[],
  ): Promise<AgentReport> {
    return await reportTopology(parts, scope, examined);
  }

  /** Finds what was repaired, opened or changed within a day. */
  async function inspectChanges(
    scope: CrewScope,
    examined: readonly Examination[],
  ): Promise<AgentReport> {
    return await reportChanges(parts, scope, examined);
  }

  /** Probes the suspects of the other agents again, and objects where a suspect is healthy. */
  async function verifySuspects(
    scope: CrewScope,
    reports: readonly AgentReport[],
  ): Promise<Verification> {
    return await reportVerification(parts, scope, reports);
  }

  return {
    triageIncident,
    examineServices,
    inspectLogs,
    inspectMetrics,
    inspectTopology,
    inspectChanges,
    verifySuspects,
  };
}
