import { Problem, withTimeout } from "../../contract/mod.ts";
import {
  type IntegrationMode,
  type IntegrationName,
  INTEGRATIONS,
  type IntegrationStatus,
  type IntegrationView,
} from "../../domain/mod.ts";
import { type Db, recordIntegrationHealth } from "../../store/mod.ts";

/** What a look at an integration finds while that works. */
export interface Finding {
  readonly status: Exclude<IntegrationStatus, "down" | "not_configured">;
  /** A sentence without a full stop that everybody may read. */
  readonly detail: string;
}

/** A way to find out how an integration is. */
export type Probe =
  | {
    readonly mode: Exclude<IntegrationMode, "not_configured">;
    /** @throws {Problem} it is down; everybody may read the message */
    look(): Promise<Finding>;
  }
  | {
    readonly mode: "not_configured";
    /** Names the setting that would change it. */
    readonly detail: string;
  };

/** How all integrations are. */
export interface IntegrationViews {
  /** Returns the view of an integration, at most 30 seconds old. */
  view(name: IntegrationName): Promise<IntegrationView>;
  /** Returns the views of all integrations. One that fails or hangs changes nothing in the others. */
  all(): Promise<IntegrationView[]>;
}

const CACHE_MS = 30_000;
const PROBE_TIMEOUT_MS = 3_000;

/** Opens the views of integrations. What their probes found last is kept in the database, too. */
export function openViews(
  db: Db,
  probes: Readonly<Record<IntegrationName, Probe>>,
): IntegrationViews {
  const cache = new Map<IntegrationName, { atMs: number; view: Promise<IntegrationView> }>();

  async function probe(name: IntegrationName): Promise<IntegrationView> {
    const view = await lookAt(name, probes[name]);
    // A view is true without its record, and the database may be what is down.
    await recordIntegrationHealth(db, view).catch(() => {});
    return view;
  }

  function view(name: IntegrationName): Promise<IntegrationView> {
    const cached = cache.get(name);
    if (cached && performance.now() - cached.atMs < CACHE_MS) return cached.view;
    const fresh = { atMs: performance.now(), view: probe(name) };
    cache.set(name, fresh);
    return fresh.view;
  }

  return { view, all: () => Promise.all(INTEGRATIONS.map(view)) };
}

/** Probes an integration. Its failure stays within its own view. */
async function lookAt(integration: IntegrationName, probe: Probe): Promise<IntegrationView> {
  const startedMs = performance.now();
  const result = await find(probe);
  return {
    integration,
    mode: probe.mode,
    status: result.status,
    checked_at: new Date().toISOString(),
    latency_ms: Math.round((performance.now() - startedMs) * 10) / 10,
    detail: result.detail,
  };
}

async function find(probe: Probe): Promise<Pick<IntegrationView, "status" | "detail">> {
  if (probe.mode === "not_configured") return { status: "not_configured", detail: probe.detail };
  try {
    return await withTimeout(PROBE_TIMEOUT_MS, look(probe.look));
  } catch { // the time limit alone
    return { status: "down", detail: `No answer within ${PROBE_TIMEOUT_MS} ms` };
  }
}

async function look(
  work: () => Promise<Finding>,
): Promise<Pick<IntegrationView, "status" | "detail">> {
  try {
    return await work();
  } catch (error) {
    return describeFailure(error);
  }
}

/** Messages of problems are for callers; others may name addresses or paths. */
function describeFailure(error: unknown): Pick<IntegrationView, "status" | "detail"> {
  const detail = error instanceof Problem ? error.message : "It failed; the log says why";
  return { status: "down", detail };
}
