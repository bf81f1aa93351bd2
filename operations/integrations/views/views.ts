import type { Logger } from "pino";
import { Problem, withTimeout } from "../../../contract/mod.ts";
import {
  type IntegrationMode,
  type IntegrationName,
  INTEGRATIONS,
  type IntegrationStatus,
  type IntegrationView,
  type IntegrationViewer,
  type IntegrationViews,
  PLATFORM_TENANT,
} from "../../../contract/domain/mod.ts";
import { findSecrets } from "../../../judgement/guard/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { recordIntegrationHealth } from "../../../store/platform/mod.ts";

/** Result of a look at an integration that works. */
export interface Finding {
  readonly status: Exclude<IntegrationStatus, "down" | "not_configured">;
  /** A sentence without a full stop that everybody may read. */
  readonly detail: string;
}

/** A way to find out how an integration is, where it has a form that works. */
export interface LookingProbe {
  readonly mode: Exclude<IntegrationMode, "not_configured">;
  /** @throws {Problem} it is down; everybody may read the message */
  look(): Promise<Finding>;
  /** Describes that it is not asked for now, as it failed again and again; undefined: it is asked. */
  pause?(): string | undefined;
  /** The form that all but the operator's own keys see instead; default: the same. */
  readonly builtIn?: Probe;
}

/** A way to find out how an integration is. */
export type Probe =
  | LookingProbe
  | {
    readonly mode: "not_configured";
    /** Names the setting that would change it. */
    readonly detail: string;
  };

/** Returns whether somebody has one of the operator's own keys, which alone see the operator's systems. */
export function isOperator({ caller, store }: IntegrationViewer): boolean {
  return caller.keyId !== null && store.tenant === PLATFORM_TENANT;
}

const CACHE_MS = 30_000;
const PROBE_TIMEOUT_MS = 3_000;

/**
 * Opens the views of integrations. What their probes found last is kept in the database, too.
 *
 * @param log gets the failures of probes that nobody expected
 */
export function openViews(
  db: Db,
  probes: Readonly<Record<IntegrationName, Probe>>,
  log: Pick<Logger, "error">,
): IntegrationViews {
  const cache = new Map<string, { atMs: number; view: Promise<IntegrationView> }>();

  async function probe(name: IntegrationName, one: Probe): Promise<IntegrationView> {
    const view = await lookAt(name, one, log);
    // A view is true without its record, and the database may be what is down.
    if (one === probes[name]) await recordIntegrationHealth(db, view).catch(() => {});
    return view;
  }

  async function view(name: IntegrationName, viewer: IntegrationViewer): Promise<IntegrationView> {
    const one = probeFor(viewer, probes[name]);
    const pause = one.mode === "not_configured" ? undefined : one.pause?.();
    const found = await cachedView(name, one);
    // A system may have been given up since it was probed.
    return pause === undefined ? found : { ...found, status: "down", detail: pause };
  }

  function cachedView(name: IntegrationName, one: Probe): Promise<IntegrationView> {
    const key = `${name} ${one === probes[name]}`;
    const cached = cache.get(key);
    if (cached && performance.now() - cached.atMs < CACHE_MS) return cached.view;
    const fresh = { atMs: performance.now(), view: probe(name, one) };
    cache.set(key, fresh);
    return fresh.view;
  }

  return { view, all: (viewer) => Promise.all(INTEGRATIONS.map((name) => view(name, viewer))) };
}

function probeFor(viewer: IntegrationViewer, probe: Probe): Probe {
  if (probe.mode === "not_configured" || isOperator(viewer)) return probe;
  return probe.builtIn ?? probe;
}

/** Probes an integration. Its failure stays within its own view. */
async function lookAt(
  integration: IntegrationName,
  probe: Probe,
  log: Pick<Logger, "error">,
): Promise<IntegrationView> {
  const startedMs = performance.now();
  const result = await find(probe, (error) => {
    const { name, message } = nameOf(error);
    const reason = findSecrets(message).length > 0 ? "[secret]" : message;
    log.error({ integration, error: name, reason }, "A probe of an integration failed");
  });
  return {
    integration,
    mode: probe.mode,
    status: result.status,
    checked_at: new Date().toISOString(),
    latency_ms: Math.round((performance.now() - startedMs) * 10) / 10,
    detail: result.detail,
  };
}

async function find(
  probe: Probe,
  onUnexpected: (error: unknown) => void,
): Promise<Pick<IntegrationView, "status" | "detail">> {
  if (probe.mode === "not_configured") return { status: "not_configured", detail: probe.detail };
  try {
    return await withTimeout(PROBE_TIMEOUT_MS, look(probe, onUnexpected));
  } catch { // the time limit alone
    return { status: "down", detail: `No answer within ${PROBE_TIMEOUT_MS} ms` };
  }
}

/** Messages of problems are for callers; others may name addresses or paths. */
async function look(
  probe: LookingProbe,
  onUnexpected: (error: unknown) => void,
): Promise<Pick<IntegrationView, "status" | "detail">> {
  try {
    return await probe.look();
  } catch (error) {
    if (error instanceof Problem) return { status: "down", detail: error.message };
    onUnexpected(error);
    return { status: "down", detail: "It failed; the log says why" };
  }
}

function nameOf(error: unknown): { readonly name: string; readonly message: string } {
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: typeof error, message: String(error) };
}
