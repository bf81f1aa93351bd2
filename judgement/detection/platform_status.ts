import { basename } from "node:path";
import type { Client } from "@temporalio/client";
import { describeWhileRefused } from "../../contract/domain/mod.ts";
import type { Engine } from "../engine/mod.ts";
import {
  type ChainWatch,
  describeWaiting,
  getHead,
  getPublishingState,
  isSequencerAtWork,
} from "../../ledger/mod.ts";
import type { Config } from "../../config.ts";
import type { Store } from "../../store/mod.ts";
import { governanceInForce } from "../../store/calls/mod.ts";
import { getDeviceFigures } from "../../store/devices/mod.ts";
import {
  type ConfigDrift,
  countServicesByStatus,
  countStandbys,
  countTicketsByStatus,
  getOutboxState,
  getSealingTrouble,
  listConfigDrift,
  listPlaces,
  listRefusedFiles,
  listSilentPlaces,
  type OutboxState,
  type SealingTrouble,
  type SettingsFileRecord,
} from "../../store/platform/mod.ts";

/** The parts that are probed. */
export interface StatusParts {
  readonly config: Config;
  readonly store: Store;
  readonly chain: ChainWatch;
  readonly engine: Engine;
  temporal(): Promise<Client>;
}

/** The result of one probe. */
export interface ProbeStatus {
  readonly ok: boolean;
  /** Milliseconds. */
  readonly elapsed_ms: number;
  /** Null: the probe failed, and there is nothing to say but its error. */
  readonly detail: Readonly<Record<string, unknown>> | null;
  /** Null: the probe passed. {@linkcode UNREACHABLE}: the part, or the database that it needs, can't be asked. */
  readonly error: string | null;
}

/** Names of the probed parts. */
export const BACKENDS = [
  "postgresql",
  "temporal",
  "ledger",
  "services",
  "tickets",
  "engine",
  "governance",
  "devices",
  "settings",
  "places",
] as const;

/** The status of all parts at a moment. */
export interface PlatformStatus {
  readonly status: "ok" | "degraded";
  /** When the probes ran, ISO 8601. */
  readonly timestamp: string;
  readonly cached: boolean;
  readonly backends: Readonly<Record<typeof BACKENDS[number], ProbeStatus>>;
}

type Detail = Readonly<Record<string, unknown>>;

/** A failure whose message everybody may read. Other messages may name addresses or paths. */
class PublicFailure extends Error {
  override readonly name = "PublicFailure";

  constructor(message: string, readonly detail: Detail | null = null) {
    super(message);
  }
}

/** Error of a part that can't be asked. */
export const UNREACHABLE = "unreachable";

const CACHE_MS = 30_000;
const PROBE_TIMEOUT_MS = 2_000;
/** A request to seal that waits longer than this is not just waiting for the next batch. */
const MAX_WAITING_SECONDS = 30;

const PROBES: Readonly<
  Record<typeof BACKENDS[number], (parts: StatusParts) => Promise<Detail>>
> = {
  postgresql: probePostgres,
  temporal: probeTemporal,
  ledger: probeLedger,
  services: ({ store }) => countServicesByStatus(store.db),
  tickets: ({ store }) => countTicketsByStatus(store.db),
  engine: probeEngine,
  governance: probeGovernance,
  devices: async ({ store }) => ({ ...await getDeviceFigures(store.db) }),
  settings: probeSettings,
  places: probePlaces,
};

const cache = new WeakMap<Store, { at: number; status: Promise<PlatformStatus> }>();

/**
 * Returns the last status where that is at most 30 seconds old; otherwise probes all parts. Settings files are looked at in
 * any case: whoever has mended one wants to see it.
 */
export async function getPlatformStatus(parts: StatusParts): Promise<PlatformStatus> {
  const cached = cache.get(parts.store);
  if (!cached || performance.now() - cached.at >= CACHE_MS) return await probePlatform(parts);
  const [{ timestamp, backends }, settings] = await Promise.all([
    cached.status,
    probeBackend("settings", parts),
  ]);
  return toStatus({ ...backends, settings }, timestamp, true);
}

/** Probes all parts now. Calls of {@linkcode getPlatformStatus} meanwhile wait for the same probes. */
export function probePlatform(parts: StatusParts): Promise<PlatformStatus> {
  const status = probeAll(parts);
  cache.set(parts.store, { at: performance.now(), status });
  return status;
}

/** Probes one part now. */
export function probeBackend(
  name: typeof BACKENDS[number],
  parts: StatusParts,
): Promise<ProbeStatus> {
  return probe(() => PROBES[name](parts));
}

async function probeAll(parts: StatusParts): Promise<PlatformStatus> {
  const results = await Promise.all(
    BACKENDS.map(async (name) => [name, await probeBackend(name, parts)] as const),
  );
  const backends = Object.fromEntries(results) as PlatformStatus["backends"];
  return toStatus(backends, new Date().toISOString(), false);
}

function toStatus(
  backends: PlatformStatus["backends"],
  timestamp: string,
  cached: boolean,
): PlatformStatus {
  // A ledger that answers and whose chain is broken is not in order.
  const isWell = Object.values(backends).every(({ ok, detail }) =>
    ok && detail?.chain_intact !== false
  );
  return { status: isWell ? "ok" : "degraded", timestamp, cached, backends };
}

/** Runs one probe. Its failure stays within its own result. */
async function probe(look: () => Promise<Detail>): Promise<ProbeStatus> {
  const started = performance.now();
  const elapsed = () => Math.round((performance.now() - started) * 10) / 10;
  try {
    const detail = await withTimeout(look());
    return { ok: true, elapsed_ms: elapsed(), detail, error: null };
  } catch (error) {
    const { message, detail } = error instanceof PublicFailure
      ? error
      : { message: UNREACHABLE, detail: null };
    return { ok: false, elapsed_ms: elapsed(), detail, error: message };
  }
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const failure = new PublicFailure(`no answer within ${PROBE_TIMEOUT_MS} ms`);
    timer = setTimeout(() => reject(failure), PROBE_TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function probePostgres({ store }: StatusParts): Promise<Detail> {
  const row = await store.db.first(
    "SELECT current_setting('server_version') AS version",
  );
  const standbys = await countStandbys(store.db);
  return {
    version: row!.version,
    standbys: standbys?.streaming ?? null,
    commit_is_on: standbys ? 1 + standbys.synchronous : null,
  };
}

async function probeTemporal({ temporal }: StatusParts): Promise<Detail> {
  const client = await temporal();
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  return { version: serverVersion };
}

async function probeLedger({ store, chain }: StatusParts): Promise<Detail> {
  const [{ size }, outbox, trouble, publishing] = await Promise.all([
    getHead(store),
    getOutboxState(store.db),
    getSealingTrouble(store.db),
    getPublishingState(store),
  ]);
  if (trouble?.held) throw new PublicFailure(`sealing is held: ${trouble.reason}`);
  if (outbox.oldestSeconds > MAX_WAITING_SECONDS) {
    throw new PublicFailure(await describeStandstill(store, outbox, trouble));
  }
  const unpublished = describeWaiting(publishing);
  if (unpublished !== undefined) throw new PublicFailure(`publishing waits: ${unpublished}`);
  const { chain_intact, breaks, verified_through } = await chain.look();
  return { total_receipts: size, chain_intact, breaks, verified_through };
}

/** Describes what waits to be sealed, and why: the sequencer failed meanwhile, or there is none. */
async function describeStandstill(
  store: Store,
  { waiting, oldestSeconds }: OutboxState,
  trouble: SealingTrouble | undefined,
): Promise<string> {
  const seconds = Math.round(oldestSeconds);
  const cause = trouble && trouble.ageSeconds < oldestSeconds
    ? `; ${trouble.reason}. The sequencer's log has the whole error`
    : await isSequencerAtWork(store.db)
    ? ""
    : "; no sequencer is at work: start it, or see in its log why it ended";
  return `sealing stands still: about ${waiting} receipts wait, the oldest for ${seconds} s${cause}`;
}

async function probeEngine({ engine }: StatusParts): Promise<Detail> {
  const ready = await engine.health();
  if (!ready.classify || !ready.validate) throw new Error("The engine is not ready");
  return { ...ready };
}

async function probeGovernance({ store }: StatusParts): Promise<Detail> {
  const [{ version, stops }, refused] = await Promise.all([
    governanceInForce(store.db),
    listRefusedFiles(store.db),
  ]);
  if (refused.some(({ name }) => name === "governance")) {
    throw new PublicFailure(
      "the policy's file is not followed; npm run governance -- show says why",
    );
  }
  return { policy_version: version, stops: stops.length };
}

async function probeSettings({ store }: StatusParts): Promise<Detail> {
  const [files, drifts] = await Promise.all([
    listRefusedFiles(store.db),
    listConfigDrift(store.db),
  ]);
  const refused = files.map(describeRefused);
  const drift = drifts.map(describeDrifting);
  if (refused.length + drift.length === 0) return { refused, drift };
  const lines = [
    ...refused.map(({ file, line, wrong }) =>
      `${file}${line === null ? "" : `:${line}`}: ${wrong}`
    ),
    ...drift.map(({ code, name, version }) =>
      `${code}: a worker's file of ${name} is not version ${version}, which stays in force`
    ),
  ];
  throw new PublicFailure(lines.join("\n"), { refused, drift });
}

/** Describes a file that differs, without its path, and with its place's id, as the name is private. */
function describeDrifting({ name, placeId, since, version }: ConfigDrift) {
  return {
    code: "config_drift",
    name,
    place: placeId,
    version,
    since: since.toISOString(),
    advice: "npm run config -- list names the place, and what would be right",
  };
}

/** Counts the places. Their names are private. */
async function probePlaces({ config, store }: StatusParts): Promise<Detail> {
  const silent = await listSilentPlaces(store.db, config.settings.SEALOOP_PLACE_AWAY_SECONDS);
  const names = new Set([...await listPlaces(store.db), ...silent].map(({ name }) => name));
  const detail = { places: names.size, away: silent.length };
  if (silent.length === 0) return detail;
  throw new PublicFailure(
    `${silent.length} of ${names.size} places without a worker; incidents with the code place_away name them`,
    detail,
  );
}

/** Describes a refused file by its first mistake, without its path and without what it says. */
function describeRefused({ name, path, mistakes, since, takenAt }: SettingsFileRecord) {
  const first = mistakes[0]!;
  return {
    name,
    file: basename(first.file),
    line: first.line,
    column: first.column,
    wrong: first.open ?? "npm run check-files says what is wrong",
    mistakes: mistakes.length,
    folder: first.file === path ? null : basename(path),
    refused_since: since.toISOString(),
    in_force_since: takenAt?.toISOString() ?? null,
    meanwhile: describeWhileRefused(name, takenAt),
  };
}
