import { createHash } from "node:crypto";
import type { Queryable } from "./connection.ts";

/** A detector's last run. */
export interface DetectorRun {
  readonly detector: string;
  /** ISO 8601. */
  readonly last_run_at: string;
  readonly duration_ms: number;
  readonly probed: number;
  readonly findings: number;
  /** What could not be looked at, as codes; null: nothing. */
  readonly error: string | null;
}

/** A finding with its evidence. */
export interface FindingRecord {
  readonly fingerprint: string;
  readonly detector: string;
  readonly service: string | null;
  readonly host: string | null;
  /** `http`, `tcp`, `command`, `host`, `log`, `certificate` or `platform`. */
  readonly kind: string;
  readonly code: string;
  readonly severity: "critical" | "high" | "medium" | "low";
  /** Fingerprint of its likely cause; its own where it is that. */
  readonly root: string;
  /** One sentence for people. */
  readonly summary: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly target: Readonly<Record<string, unknown>>;
  readonly sightings: number;
  /** ISO 8601, like the other two. */
  readonly first_seen_at: string;
  readonly last_seen_at: string;
  /** Null: it was there at the last look. */
  readonly cleared_at: string | null;
}

/** A finding as it is noted. */
export type NewFinding = Omit<
  FindingRecord,
  "sightings" | "first_seen_at" | "last_seen_at" | "cleared_at"
>;

/** How services depend on each other. */
export interface ServiceGraph {
  /** Service → the host it is on. */
  readonly hosts: ReadonlyMap<string, string>;
  /** Service → what it depends on. */
  readonly dependsOn: ReadonlyMap<string, readonly string[]>;
}

/** What is known of a service's last looks. */
export interface ProbeHistory {
  readonly service: string;
  /** Oldest first: `u` up, `s` up but slow, `d` down. */
  readonly looks: string;
  readonly flapping: boolean;
}

/** Notes that a detector has just run. */
export async function recordDetectorRun(
  on: Queryable,
  run: Omit<DetectorRun, "last_run_at">,
): Promise<void> {
  await on("detections").insert({ ...run, last_run_at: on.fn.now() }).onConflict("detector")
    .merge();
}

/** The last run of every detector that ever ran. */
export async function listDetectorRuns(on: Queryable): Promise<DetectorRun[]> {
  const rows = await on("detections").orderBy("detector");
  return rows.map(({ last_run_at, ...run }) => ({
    ...run,
    last_run_at: last_run_at.toISOString(),
  }));
}

/** Notes findings, each once: what is there already is seen once more. */
export async function recordFindings(
  on: Queryable,
  findings: readonly NewFinding[],
): Promise<void> {
  if (findings.length === 0) return;
  await on.raw(
    `INSERT INTO findings AS f
       (fingerprint, detector, service, host, kind, code, severity, root, summary, detail, target)
     SELECT fingerprint, detector, service, host, kind, code, severity, root, summary, detail, target
     FROM jsonb_to_recordset(?::jsonb) AS n (fingerprint text, detector text, service text, host text, kind text,
       code text, severity text, root text, summary text, detail jsonb, target jsonb)
     ORDER BY fingerprint
     ON CONFLICT (fingerprint) DO UPDATE SET detector = excluded.detector, service = excluded.service,
       host = excluded.host, kind = excluded.kind, code = excluded.code, severity = excluded.severity,
       root = excluded.root, summary = excluded.summary, detail = excluded.detail, target = excluded.target,
       sightings = f.sightings + 1, last_seen_at = now(), cleared_at = NULL,
       first_seen_at = CASE WHEN f.cleared_at IS NULL THEN f.first_seen_at ELSE now() END`,
    [JSON.stringify(findings)],
  );
}

/**
 * Notes that a detector's findings, but for these, are not there any more. Those about services of tests stay: no sweep
 * looks at them, only their own test does.
 *
 * @param host undefined: on any
 */
export async function clearOtherFindings(
  on: Queryable,
  { detector, host, present }: {
    detector: string;
    host: string | undefined;
    present: readonly string[];
  },
): Promise<void> {
  const query = on("findings").where({ detector, ...(host === undefined ? {} : { host }) });
  await query.whereNull("cleared_at").whereNotIn("fingerprint", [...present])
    .whereNotExists(
      on("services").where({ origin: "test" }).whereRaw("services.name = findings.service"),
    )
    .update({ cleared_at: on.fn.now() });
}

/** Forgets findings that are over since long. */
export async function forgetFindings(on: Queryable, days: number): Promise<void> {
  await on("findings").whereRaw("cleared_at < now() - make_interval(days => ?)", [days]).delete();
}

/** Notes that a fault is not there any more. */
export async function clearFinding(on: Queryable, fingerprint: string): Promise<void> {
  await on("findings").where({ fingerprint }).whereNull("cleared_at")
    .update({ cleared_at: on.fn.now() });
}

/** A finding by its fingerprint, or undefined. */
export async function getFinding(
  on: Queryable,
  fingerprint: string,
): Promise<FindingRecord | undefined> {
  const row = await on("findings").where({ fingerprint }).first();
  return row && fromRow(row);
}

/** Findings by their fingerprints, as far as there are any. */
export async function getFindings(
  on: Queryable,
  fingerprints: readonly string[],
): Promise<Map<string, FindingRecord>> {
  const rows = await on("findings").whereIn("fingerprint", [...fingerprints]);
  return new Map(rows.map((row) => [row.fingerprint, fromRow(row)]));
}

/** Findings that are there, of a detector and a host where they are given. */
export async function listOpenFindings(
  on: Queryable,
  { detector, host }: { detector?: string; host?: string } = {},
): Promise<FindingRecord[]> {
  const query = on("findings").whereNull("cleared_at").orderBy("first_seen_at");
  if (detector) query.where({ detector });
  if (host) query.where({ host });
  return (await query).map(fromRow);
}

/** Who depends on whom, of all services. */
export async function getServiceGraph(on: Queryable): Promise<ServiceGraph> {
  const [services, edges] = await Promise.all([
    on("services").select("name", "host"),
    on("service_edges AS e").join("services AS a", "a.id", "e.source").join(
      "services AS b",
      "b.id",
      "e.target",
    )
      .distinct({ service: "a.name", depends_on: "b.name" }).orderBy("depends_on"),
  ]);
  const dependsOn = new Map<string, string[]>();
  for (const { service, depends_on } of edges) {
    const all = dependsOn.get(service);
    if (all) all.push(depends_on);
    else dependsOn.set(service, [depends_on]);
  }
  return { hosts: new Map(services.map(({ name, host }) => [name, host])), dependsOn };
}

/** The last looks at every service that was ever looked at. */
export async function getProbeHistories(on: Queryable): Promise<Map<string, ProbeHistory>> {
  const rows: ProbeHistory[] = await on("probe_history");
  return new Map(rows.map((row) => [row.service, row]));
}

/** Keeps the last looks at services; one that has been removed meanwhile is passed over. */
export async function putProbeHistories(
  on: Queryable,
  histories: readonly ProbeHistory[],
): Promise<void> {
  if (histories.length === 0) return;
  await on.raw(
    `INSERT INTO probe_history (service, looks, flapping)
     SELECT name, looks, flapping FROM unnest(?::text[], ?::text[], ?::boolean[]) AS n (name, looks, flapping)
     JOIN services USING (name) ORDER BY name
     ON CONFLICT (service) DO UPDATE SET looks = excluded.looks, flapping = excluded.flapping`,
    [
      histories.map(({ service }) => service),
      histories.map(({ looks }) => looks),
      histories.map(({ flapping }) => flapping),
    ],
  );
}

/** What was read of a log so far, with what it has taught; undefined: nothing. */
export async function getLogPlace<Place, State>(
  on: Queryable,
  host: string,
  path: string,
): Promise<{ place: Place; state: State } | undefined> {
  return await on("log_places").where({ host, path }).first("place", "state");
}

/** Keeps how far a log was read. */
export async function putLogPlace(
  on: Queryable,
  { host, path, place, state }: { host: string; path: string; place: unknown; state: unknown },
): Promise<void> {
  await on("log_places").insert({
    host,
    path,
    place: JSON.stringify(place),
    state: JSON.stringify(state),
    updated_at: on.fn.now(),
  }).onConflict(["host", "path"]).merge();
}

/** Forgets what was read of the logs in a folder, on whatever host. @param folder absolute */
export async function forgetLogPlaces(on: Queryable, folder: string): Promise<void> {
  await on("log_places").whereRaw("starts_with(path, ?)", [`${folder}/`]).delete();
}

// deno-lint-ignore no-explicit-any -- a row as the driver gives it
function fromRow(row: any): FindingRecord {
  return {
    ...row,
    sightings: Number(row.sightings),
    first_seen_at: row.first_seen_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    cleared_at: row.cleared_at?.toISOString() ?? null,
  };
}

/** How many positions of the ledger don't hold, as far as the scrub has come. */
export async function countOpenBreaks(
  on: Queryable,
): Promise<{ breaks: number; first: number | null }> {
  const { rows: [row] } = await on.raw(
    "SELECT count(*)::int AS breaks, min(position) AS first FROM ledger_breaks WHERE healed_at IS NULL",
  );
  return { breaks: row.breaks, first: row.first === null ? null : Number(row.first) };
}

/** What waits to be sealed: about how many, and for how long the first of them. */
export async function getOutboxState(
  on: Queryable,
): Promise<{ waiting: number; oldestSeconds: number }> {
  const { rows: [row] } = await on.raw(
    `SELECT extract(epoch FROM now() - (payload::json ->> 'timestamp')::timestamptz)::float8 AS seconds,
       (SELECT max(seq) FROM seal_outbox) - seq + 1 AS waiting
     FROM seal_outbox ORDER BY seq LIMIT 1`,
  );
  return { waiting: Number(row?.waiting ?? 0), oldestSeconds: row?.seconds ?? 0 };
}

/** How the server is: what it takes to ask it, milliseconds, and how many of its connections are taken. */
export async function getDatabaseState(
  on: Queryable,
): Promise<{ elapsedMs: number; connections: number; maxConnections: number }> {
  const started = performance.now();
  const { rows: [row] } = await on.raw(
    `SELECT sum(numbackends)::int AS connections, current_setting('max_connections')::int AS most
     FROM pg_stat_database`,
  );
  const elapsedMs = performance.now() - started;
  return { elapsedMs, connections: row.connections, maxConnections: row.most };
}

/** Returns the fingerprint of a finding: the first 16 hex characters of SHA-256 over what makes a fault the same fault. */
export function fingerprintFault(...parts: readonly string[]): string {
  return createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 16);
}
