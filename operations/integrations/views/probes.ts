import { assessPlatform } from "../../../judgement/compliance/mod.ts";
import type { Config } from "../../../config.ts";
import { type Operation, Problem } from "../../../contract/mod.ts";
import type { IntegrationName } from "../../../contract/domain/mod.ts";
import {
  type BACKENDS,
  probeBackend,
  type StatusParts,
  UNREACHABLE,
} from "../../../judgement/detection/mod.ts";
import { describeMesh, readMesh } from "../../../judgement/shield/mod.ts";
import { listRunbooks } from "../../../store/catalogue/mod.ts";
import { getDeviceFigures } from "../../../store/devices/mod.ts";
import { countPassages, getSpanExport } from "../../../store/platform/mod.ts";
import type { Langfuse, SpanExporter } from "../../../integrations/observability/mod.ts";
import type { PolicyAdviser } from "../../../integrations/policy/mod.ts";
import type { OutsideSystems } from "../../../integrations/outside/mod.ts";
import { createRemoteProbes, lookAtKeycloak } from "./remote.ts";
import type { Finding, LookingProbe, Probe } from "./views.ts";
import { type SpanRecorder } from "../../../calls/mod.ts";

/** The parts that built-in forms work with. */
export interface ProbeParts extends StatusParts {
  readonly config: Config;
  /** Gives a second opinion about calls; undefined: none is configured. */
  readonly adviser: PolicyAdviser | undefined;
  readonly outside: OutsideSystems;
  /** Sends spans to a collector; undefined: none is configured. */
  readonly exporter: SpanExporter | undefined;
  readonly langfuse: Langfuse | undefined;
  readonly spans: SpanRecorder;
  /** Every operation by its name. */
  readonly operations: ReadonlyMap<string, Pick<Operation<never>, "durability">>;
}

type Look = (parts: ProbeParts) => Promise<Finding>;

const LOOKS: Readonly<Partial<Record<IntegrationName, Look>>> = {
  observability: lookAtSpans,
  policy: lookAtPolicy,
  grc: lookAtCompliance,
  rmm: lookAtDevices,
  mesh: lookAtMesh,
  soar: lookAtWorkflows,
  rag: lookAtKnowledge,
  audit: lookAtLedger,
};

/**
 * Returns the probes of the forms that are configured: of built-in ones, what they hold for the operator's own tenant. A
 * policy adviser is shown to everybody, as it decides about everybody's calls.
 */
export function createProbes(parts: ProbeParts): Readonly<Record<IntegrationName, Probe>> {
  const of = (name: IntegrationName): Probe => {
    const look = LOOKS[name];
    return look
      ? { mode: "built_in", look: () => look(parts) }
      : { mode: "not_configured", detail: "Nothing is built in, and no setting leads elsewhere" };
  };
  const { adviser, outside: { audit } } = parts;
  const remote = createRemoteProbes(parts.outside);
  const or = (probe: LookingProbe | undefined, name: IntegrationName): Probe =>
    probe ? { ...probe, builtIn: of(name) } : of(name);
  return {
    observability: or(
      parts.exporter || parts.langfuse
        ? { mode: "remote", look: () => lookAtCollector(parts) }
        : undefined,
      "observability",
    ),
    policy: adviser
      ? { mode: "remote", pause: adviser.pause, look: () => lookAtAdviser(adviser, parts) }
      : of("policy"),
    grc: or(remote.grc, "grc"),
    rmm: or(remote.rmm, "rmm"),
    mesh: or(remote.mesh, "mesh"),
    soar: or(remote.soar, "soar"),
    rag: or(remote.rag, "rag"),
    audit: or(
      audit && { mode: "remote", pause: audit.pause, look: () => lookAtTrails(audit, parts) },
      "audit",
    ),
  };
}

async function lookAtSpans({ store, spans }: ProbeParts): Promise<Finding> {
  const { traces, errors } = await spans.figures(store.asPlatform());
  return {
    status: "ok",
    detail: `${count(traces, "trace")} in 24 hours, ${count(errors, "error")} among them`,
  };
}

/** The worker exports; so how that went last is read from the database. */
async function lookAtCollector(parts: ProbeParts): Promise<Finding> {
  const { exporter, langfuse, store } = parts;
  const [own, version, { spans, lastError }] = await Promise.all([
    lookAtSpans(parts),
    langfuse?.check(),
    getSpanExport(store.asPlatform()),
  ]);
  if (exporter && lastError !== null) {
    throw new Problem("Unavailable", `${lastError}; spans are kept here`);
  }
  const told = [
    own.detail,
    ...(exporter ? [`${count(spans, "span")} exported so far`] : []),
    ...(version === undefined ? [] : [`Langfuse ${version} is well`]),
  ];
  return { ...own, detail: told.join("; ") };
}

async function lookAtPolicy(parts: ProbeParts): Promise<Finding> {
  const { detail, error } = await probe(parts, "governance");
  if (error !== null) return { status: "degraded", detail: `Calls are decided on, but ${error}` };
  const { policy_version, stops } = detail as { policy_version: number; stops: number };
  return {
    status: stops > 0 ? "degraded" : "ok",
    detail: `Calls are decided on by policy version ${policy_version}; ${count(stops, "stop")}`,
  };
}

/** While OPA is away the platform denies every change, so that is down; the rules of its own stay as they are. */
async function lookAtAdviser(adviser: PolicyAdviser, parts: ProbeParts): Promise<Finding> {
  const [own] = await Promise.all([lookAtPolicy(parts), adviser.check()]);
  return { ...own, detail: `${own.detail}; OPA gives a second opinion` };
}

async function lookAtCompliance(parts: ProbeParts): Promise<Finding> {
  const { frameworks, facts } = await assessPlatform(parts);
  const controls = frameworks.flatMap((one) => one.controls).length;
  const missing = [
    ...(facts.engine ? [] : ["the engine does not answer"]),
    ...(facts.chain.intact === null ? ["the chain is not verified yet"] : []),
  ];
  const detail = `${controls} controls of ${frameworks.length} frameworks are assessed`;
  return missing.length === 0
    ? { status: "ok", detail }
    : { status: "degraded", detail: `${detail}, but ${missing.join(" and ")}` };
}

async function lookAtMesh({ store }: ProbeParts): Promise<Finding> {
  return describeMesh(await readMesh(store.asPlatform()));
}

async function lookAtDevices({ store }: ProbeParts): Promise<Finding> {
  const { by_status } = await getDeviceFigures(store.asPlatform());
  const states = Object.entries(by_status).filter(([, n]) => n > 0).map(([name, n]) =>
    `${n} ${name}`
  );
  return {
    status: by_status.offline + by_status.quarantined > 0 ? "degraded" : "ok",
    detail: states.length === 0 ? "No device is enrolled" : `Devices: ${states.join(", ")}`,
  };
}

async function lookAtWorkflows(parts: ProbeParts): Promise<Finding> {
  const [{ error }, runbooks] = await Promise.all([
    probe(parts, "temporal"),
    listRunbooks(parts.store.asPlatform()),
  ]);
  if (error !== null) throw new Problem("Unavailable", "Temporal does not answer");
  const startable =
    [...parts.operations.values()].filter((one) => one.durability?.startsWorkflow).length;
  return {
    status: "ok",
    detail: `${count(startable, "workflow type")} can be started; ` +
      `${count(runbooks.length, "runbook")} in force`,
  };
}

async function lookAtKnowledge(parts: ProbeParts): Promise<Finding> {
  const [{ error }, { articles, incidents }] = await Promise.all([
    probe(parts, "engine"),
    countPassages(parts.store.asPlatform()),
  ]);
  if (error !== null) throw new Problem("Unavailable", "The engine does not answer");
  return {
    status: "ok",
    detail: `${count(articles, "article")} and ${count(incidents, "past incident")}`,
  };
}

async function lookAtLedger(parts: ProbeParts): Promise<Finding> {
  const { detail, error } = await probe(parts, "ledger");
  if (error !== null) return { status: "degraded", detail: `Receipts can be read, but ${error}` };
  const { total_receipts, breaks } = detail as { total_receipts: number; breaks: number | null };
  return {
    status: breaks ? "degraded" : "ok",
    detail: `${count(total_receipts, "receipt")}; ` +
      (breaks ? `the chain breaks ${count(breaks, "time")}` : "no break is known"),
  };
}

/** Keycloak's events are a trail besides ours, which goes on without it. */
async function lookAtTrails(
  keycloak: NonNullable<OutsideSystems["audit"]>,
  parts: ProbeParts,
): Promise<Finding> {
  const [own, theirs] = await Promise.all([lookAtLedger(parts), lookAtKeycloak(keycloak)]);
  return {
    status: own.status === "ok" ? theirs.status : own.status,
    detail: `${own.detail}; ${theirs.detail}`,
  };
}

/** Probes a part. @throws {Problem} the database is away; it is what the other parts are read from */
async function probe(parts: ProbeParts, name: typeof BACKENDS[number]) {
  const status = await probeBackend(name, parts);
  if (status.error === UNREACHABLE && (name === "governance" || name === "ledger")) {
    throw new Problem("Unavailable", "The database does not answer");
  }
  return status;
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? "" : "s"}`;
}
