import { SCAN_DETECTOR } from "../../compliance/scans/mod.ts";
import {
  type AgentName,
  type AgentReport,
  type CrewScope,
  DRILL_SERVICE_PATTERN,
  type Retrieved,
  type Source,
  type Suspect,
  type Triage,
  type Verification,
} from "../../domain/mod.ts";
import { type HealthCheck, probe } from "../../integrations/host/mod.ts";
import {
  getImpact,
  getProbeHistories,
  getRepairHistory,
  getService,
  listOpenFindings,
  listServiceNames,
  listTickets,
} from "../../store/mod.ts";
import { EngineUnavailable } from "../../engine/mod.ts";
import { readPrompt } from "./_prompt.ts";
import { listPlatformChanges, readServiceLogs } from "./_crew_reads.ts";
import type { ActivityParts } from "../parts.ts";

/** How far back a change may be the cause, milliseconds. */
const RECENT_MS = 24 * 3_600_000;
const MOST_TOLD = 5;
const DRILL = new RegExp(DRILL_SERVICE_PATTERN);
/** How many edges up a cause is looked for. */
const DEPTH = 3;

const service = (name: string): Source => ({ id: name, kind: "service", title: `Service ${name}` });
const ticket = (id: string, title: string): Source => ({ id, kind: "ticket", title });

/** The agents of the crew. All of them only look, and so are safe to repeat. */
export function crewActivities({ config, store, engine }: ActivityParts) {
  const db = store.asPlatform();

  /**
   * Services that are named, or else those on which something was measured that is not as it should be. A weakness that a
   * scan found has stood there before the incident: whose it is counts where that is named, and not by itself.
   */
  async function servicesOf(incident: string): Promise<{ names: readonly string[]; why: string }> {
    const [known, found] = await Promise.all([listServiceNames(db), listOpenFindings(db)]);
    const weak = new Set(
      found.flatMap((one) => one.detector === SCAN_DETECTOR ? one.service ?? [] : []),
    );
    const named = readPrompt(incident, [...new Set([...known, ...weak])]).services;
    if (named.length > 0) return { names: named, why: "it is named" };
    const measured = found.filter(({ detector }) => detector !== SCAN_DETECTOR)
      .flatMap(({ service: its }) => its && !DRILL.test(its) ? [its] : []);
    return {
      names: [...new Set(measured)].slice(0, MOST_TOLD),
      why: "something was found on it that stands open",
    };
  }

  async function classified(description: string) {
    try {
      const { classification, rag_context, provider } = await engine.classify({
        description,
        source: "crew",
      });
      return { classification, provider, passages: rag_context.passages.slice(0, 3) };
    } catch (error) {
      if (error instanceof EngineUnavailable) return undefined;
      throw error;
    }
  }

  const healthOf = async (name: string) => {
    const check = (await getService(db, name))?.check;
    return check ? await probe(check as HealthCheck) : undefined;
  };

  return {
    /** What it is, how bad, and whom it concerns. */
    async crewTriage(incident: string): Promise<Triage> {
      const [{ names: services, why }, its] = await Promise.all([
        servicesOf(incident),
        classified(incident),
      ]);
      const classification: Retrieved["classification"] = its ? shortOf(its.classification) : null;
      return {
        ...report("triage", 1),
        services,
        classification,
        says: [
          its
            ? `by its words it is ${its.classification.category}, ${its.classification.severity} ` +
              `(confidence ${its.classification.confidence.toFixed(2)}, judged by ${its.provider})`
            : "the engine is away, so its kind is not judged",
          services.length > 0
            ? `concerns ${services.join(", ")}`
            : "names no service that is known",
        ],
        sources: [
          ...(its?.passages ?? []).map(({ id, kind, title, sha256 }) => ({
            id,
            kind,
            title,
            sha256,
          })),
          ...services.map(service),
        ],
        suspects: services.map((name) => ({ service: name, weight: 0.2, why })),
      };
    },

    /** What the logs of the services say, and what the detectors read in logs. */
    async crewLogs({ services, round }: CrewScope): Promise<AgentReport> {
      const logged = await Promise.all(services.map((name) => readServiceLogs(config, name)));
      const found = (await listOpenFindings(db)).filter(({ kind, service: its }) =>
        kind === "log" && (its === null || services.includes(its))
      );
      const told = found.slice(0, MOST_TOLD);
      return {
        ...report("logs", round),
        says: [
          ...logged.flatMap(({ says }) => says),
          ...told.length === 0
            ? ["no finding of the log detector is open"]
            : told.map(({ summary, sightings }) => `${summary} (${sightings} times)`),
        ],
        sources: [
          ...logged.filter(({ says }) => says.length > 0).map(({ name }) => service(name)),
          ...told.flatMap(({ service: its }) => its ? [service(its)] : []),
        ],
        suspects: [
          ...logged.filter(({ errors }) => errors > 0).map(({ name }) => ({
            ...{ service: name, weight: 0.4, why: "its log tells of errors within the hour" },
          })),
          ...told.flatMap(({ service: its }) =>
            its ? [{ service: its, weight: 0.5, why: "its log tells of it" }] : []
          ),
        ],
      };
    },

    /** How the services answer now, and how they did at the last looks. */
    async crewMetrics({ services, round }: CrewScope): Promise<AgentReport> {
      const histories = await getProbeHistories(db);
      const says: string[] = [];
      const suspects: Suspect[] = [];
      for (const name of services) {
        const now = await healthOf(name);
        const before = histories.get(name);
        const fails = now && !now.healthy;
        if (now) {
          says.push(
            fails
              ? `${name} fails its check: ${now.code.replaceAll("_", " ")}`
              : `${name} answers its check in ${Math.round(now.elapsedMs)} ms`,
          );
        } else says.push(`${name} has no check to measure it by`);
        if (before) {
          const down = [...before.looks].filter((look) => look === "d").length;
          says.push(`${name} was down at ${down} of its last ${before.looks.length} looks`);
        }
        if (fails) suspects.push({ service: name, weight: 0.6, why: "it fails its health check" });
        else if (before?.flapping) {
          suspects.push({ service: name, weight: 0.4, why: "it goes up and down" });
        }
      }
      const sources = services.map(service);
      return { ...report("metrics", round), says, sources, suspects };
    },

    /** Which of what they need is down, the nearest to the root counting most. */
    async crewTopology({ services, round }: CrewScope): Promise<AgentReport> {
      const says: string[] = [];
      const suspects: Suspect[] = [];
      for (const name of services) {
        const impact = await getImpact(db, name, DEPTH);
        if (!impact) continue;
        const { upstream, downstream } = impact;
        const down = upstream.filter(({ status }) => status === "down");
        says.push(
          `${name} needs ${upstream.length} others and is needed by ${downstream.length}`,
          ...down.map((one) => `${name} needs ${one.name}, which is down`),
        );
        suspects.push(...down.map((one) => ({
          service: one.name,
          weight: Math.min(0.8, 0.5 + one.distance / 10),
          why: `${name} needs it, and it is down`,
        })));
      }
      const sources = [...services, ...suspects.map((one) => one.service)].map(service);
      return { ...report("topology", round), says, sources, suspects };
    },

    /** What was repaired and opened on them within a day, and what was changed of what the platform runs by. */
    async crewChange({ services, round }: CrewScope): Promise<AgentReport> {
      const since = new Date(Date.now() - RECENT_MS);
      const says: string[] = [];
      const sources: Source[] = [];
      for (const name of services) {
        const [{ remediations }, tickets] = await Promise.all([
          getRepairHistory(db, { service: name, since, limit: MOST_TOLD }),
          listTickets(db, { service: name, since, limit: MOST_TOLD }),
        ]);
        says.push(
          ...remediations.map((one) =>
            `${name} was repaired by ${
              one.runbook ?? "a restart"
            } on ${one.ticket_id}: ${one.state}`
          ),
          ...tickets.map((one) => `${one.ticket_id} on ${name}: ${one.title} (${one.status})`),
        );
        sources.push(
          ...remediations.map((one) => ticket(one.ticket_id, `Repair of ${name}`)),
          ...tickets.map((one) => ticket(one.ticket_id, one.title)),
        );
      }
      if (says.length === 0) says.push("nothing was repaired or opened on them within a day");
      const changes = round === 1 ? await listPlatformChanges(store, since, MOST_TOLD) : []; // they are of no service
      says.push(...changes.map(({ says }) => says));
      sources.push(...changes.map(({ source }) => source));
      return { ...report("change", round), says, sources, suspects: [] };
    },

    /** Measures again whom the others suspect, and objects where that does not bear them out. */
    async crewVerify(
      { services, round }: CrewScope,
      reports: readonly AgentReport[],
    ): Promise<Verification> {
      const suspected = [...new Set(reports.flatMap(({ suspects }) => suspects))];
      const names = [...new Set(suspected.map((one) => one.service))].slice(0, 8);
      const objections: string[] = [];
      const suspects: Suspect[] = [];
      for (const name of names) {
        const now = await healthOf(name);
        if (now?.healthy) {
          objections.push(`${name} is suspected, and answers its health check now`);
          suspects.push({ service: name, weight: -0.5, why: "it answers when measured again" });
        }
      }
      if (names.length === 0) objections.push("nothing that was found speaks against any service");
      const looked = new Set(
        reports.flatMap(({ agent, sources }) =>
          agent === "metrics" ? sources.map(({ id }) => id) : []
        ),
      );
      const look_at = names.filter((name) => !looked.has(name) && !services.includes(name));
      for (const name of look_at) {
        objections.push(`${name} may be the cause, and nobody has looked at it yet`);
      }
      const says = objections.length > 0 ? objections : ["measured again, it holds"];
      return {
        ...{ ...report("verifier", round), says, sources: names.map(service), suspects },
        ...{ objections, look_at },
      };
    },
  };
}

const report = (agent: AgentName, round: number) => ({ agent, round });

function shortOf(
  { category, severity, confidence, recommended_action }: NonNullable<Retrieved["classification"]>,
) {
  return { category, severity, confidence, recommended_action };
}
