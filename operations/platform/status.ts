import { z } from "zod";
import { getHead } from "../../ledger/mod.ts";
import {
  countServicesByStatus,
  countTicketsByStatus,
  getOutboxState,
  getPolicyFileStatus,
  governanceInForce,
} from "../../store/mod.ts";
import { FULL, FULL_AND_AUDIT } from "../_audience.ts";
import { Timestamp } from "../_shapes.ts";
import { type Context, operation } from "../../calls/mod.ts";

const Probe = z.object({
  ok: z.boolean(),
  elapsed_ms: z.number(),
  detail: z.record(z.string(), z.unknown()).nullable(),
  error: z.string().nullable(),
});
const Status = z.object({
  status: z.enum(["ok", "degraded"]),
  timestamp: Timestamp.describe("When the probes ran"),
  cached: z.boolean(),
  backends: z.object({
    postgresql: Probe,
    temporal: Probe,
    ledger: Probe.describe("Not ok while nothing is sealed, or what is can't be read"),
    services: Probe.describe("How many are up, down or unknown, without those of drills"),
    tickets: Probe.describe("How many are open or resolved, without those of drills"),
    engine: Probe,
    governance: Probe.describe("Not ok while the file of the policy on calls is not followed"),
  }),
}).meta({ id: "PlatformStatus" });
type Status = z.output<typeof Status>;
type Probe = z.output<typeof Probe>;

const CACHE_MS = 30_000;
const PROBE_MS = 2_000;
/** A receipt that waits longer than this is not waiting for its turn. */
const MOST_WAITING_SECONDS = 30;
const kept = new WeakMap<object, Promise<Status>>();
const keptAt = new WeakMap<object, number>();

/** Runs one probe; whatever happens to it stays within its own answer. */
async function probe(look: () => Promise<Record<string, unknown>>): Promise<Probe> {
  const started = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PROBE_MS} ms`)), PROBE_MS);
  });
  try {
    const detail = await Promise.race([look(), late]);
    return { ok: true, elapsed_ms: elapsed(started), detail, error: null };
  } catch (error) {
    const message = error instanceof Error && PLAIN.test(error.message)
      ? error.message
      : "unreachable";
    return { ok: false, elapsed_ms: elapsed(started), detail: null, error: message };
  } finally {
    clearTimeout(timer);
  }
}

/** What anybody may read; other errors may tell of places. */
const PLAIN = /^(no answer|sealing stands still|the policy's file)/;

const elapsed = (since: number) => Math.round((performance.now() - since) * 10) / 10;

async function look({ store, temporal, chain, engine }: Context): Promise<Status> {
  const [postgresql, temporalProbe, ledger, services, tickets, engineProbe, governance] =
    await Promise.all([
      probe(async () => {
        const { rows } = await store.pool.query(
          "SELECT current_setting('server_version') AS version",
        );
        return { version: rows[0].version };
      }),
      probe(async () => {
        const client = await temporal();
        const { serverVersion } = await client.workflowService.getSystemInfo({});
        return { version: serverVersion };
      }),
      probe(async () => {
        const [{ size }, { waiting, oldestSeconds }] = await Promise.all([
          getHead(store),
          getOutboxState(store.asPlatform()),
        ]);
        if (oldestSeconds > MOST_WAITING_SECONDS) {
          throw new Error(
            `sealing stands still: about ${waiting} receipts wait, the oldest for ${
              Math.round(oldestSeconds)
            } s`,
          );
        }
        const { chain_intact, breaks, verified_through } = chain.state();
        return { total_receipts: size, chain_intact, breaks, verified_through };
      }),
      probe(() => countServicesByStatus(store.asPlatform())),
      probe(() => countTicketsByStatus(store.asPlatform())),
      probe(async () => {
        const ready = await engine.health();
        if (!ready.classify || !ready.validate) throw new Error("not ready yet");
        return { ...ready };
      }),
      probe(async () => {
        const [{ version, stops }, file] = await Promise.all([
          governanceInForce(store.asPlatform()),
          getPolicyFileStatus(store.asPlatform()),
        ]);
        if (file?.error) {
          throw new Error("the policy's file is not followed; npm run governance -- show says why");
        }
        return { policy_version: version, stops: stops.length };
      }),
    ]);
  const backends = {
    postgresql,
    temporal: temporalProbe,
    ledger,
    services,
    tickets,
    engine: engineProbe,
    governance,
  };
  const ok = Object.values(backends).every((b) => b.ok);
  return {
    status: ok ? "ok" : "degraded",
    timestamp: new Date().toISOString(),
    cached: false,
    backends,
  };
}

async function cached(context: Context): Promise<Status> {
  const at = keptAt.get(context.store) ?? 0;
  const last = kept.get(context.store);
  if (last && performance.now() - at < CACHE_MS) return { ...await last, cached: true };
  return await fresh(context);
}

/** Looks now; calls that arrive meanwhile through {@linkcode cached} wait for the same look. */
function fresh(context: Context): Promise<Status> {
  const looking = look(context);
  kept.set(context.store, looking);
  keptAt.set(context.store, performance.now());
  return looking;
}

const BACKENDS = [
  ...["postgresql", "temporal", "ledger", "services", "tickets", "engine", "governance"],
];
const example = {
  input: {},
  output: {
    status: "ok",
    timestamp: "2026-07-01T12:00:00.000Z",
    cached: false,
    backends: Object.fromEntries(
      BACKENDS.map((name) => [name, {
        ok: true,
        elapsed_ms: 1.2,
        detail: {},
        error: null,
      }]),
    ),
  },
};

/** Metrics of the platform, at most 30 s old. */
export const status = operation({
  name: "platform.status",
  group: "core",
  summary: "Tell how the platform's parts are, as of at most 30 seconds ago",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: Status,
  rest: { status: "GET /v1/status" },
  tool: { query_uaio_status: FULL },
  toolGroup: { query_uaio_status: "platform" },
  example,
  run: (_, context) => cached(context),
});

/** The same as {@linkcode status}, under the address that dashboards poll. */
export const statusLive = operation({
  name: "platform.status_live",
  group: "core",
  summary: "The same as /v1/status, for polling",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: Status,
  rest: { status_live: "GET /v1/status/live" },
  example,
  run: (_, context) => cached(context),
});

/** Metrics of the platform, probed now. */
export const statusFresh = operation({
  name: "platform.status_fresh",
  group: "core",
  summary: "Probe the platform's parts now",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: Status,
  rest: { status_fresh: "GET /v1/status/fresh" },
  tool: { "mission.cluster_health": FULL_AND_AUDIT },
  toolGroup: { "mission.cluster_health": "audit" },
  example,
  run: (_, context) => fresh(context),
});
