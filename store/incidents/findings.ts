import type { Severity, Text } from "../../contract/domain/mod.ts";
import { keepComposedTexts } from "../composed_texts.ts";
import type { Db, Row } from "../connection.ts";

/** The last run of a detector. */
export interface DetectorRun {
  readonly detector: string;
  /** ISO 8601. */
  readonly last_run_at: string;
  readonly duration_ms: number;
  readonly probed: number;
  readonly findings: number;
  /** Codes of what could not be probed; null: nothing. */
  readonly error: string | null;
}

/** A finding with its evidence. */
export interface FindingRecord {
  readonly fingerprint: string;
  readonly detector: string;
  readonly service: string | null;
  readonly host: string | null;
  /** Place whose sweep alone looks at it; empty: any place's. */
  readonly place: string;
  /** `http`, `tcp`, `command`, `host`, `log`, `certificate` or `platform`. */
  readonly kind: string;
  readonly code: string;
  readonly severity: Severity;
  /** Fingerprint of its likely cause; its own if it has none. */
  readonly root: string;
  /** One sentence for people. */
  readonly summary: string;
  /** Evidence. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** Data that a detector needs to look again. */
  readonly target: Readonly<Record<string, unknown>>;
  readonly sightings: number;
  /** ISO 8601, like the next two. */
  readonly first_seen_at: string;
  readonly last_seen_at: string;
  /** Null: it was present at the last look. */
  readonly cleared_at: string | null;
}

/** A finding to record. */
export type NewFinding =
  & { readonly summary: Text }
  & Omit<
    FindingRecord,
    "place" | "summary" | "sightings" | "first_seen_at" | "last_seen_at" | "cleared_at"
  >
  & Partial<Pick<FindingRecord, "place">>;

/** Maximum number of edges to a service that another one needs. */
const MAX_DEPTH = 100;

/** Records that a detector has just run. */
export async function recordDetectorRun(
  db: Db,
  { detector, duration_ms, probed, findings, error }: Omit<DetectorRun, "last_run_at">,
): Promise<void> {
  await db.execute(
    `INSERT INTO detections (detector, last_run_at, duration_ms, probed, findings, error)
     VALUES ($1, now(), $2, $3, $4, $5)
     ON CONFLICT (tenant_id, detector) DO UPDATE SET last_run_at = now(), duration_ms = excluded.duration_ms,
       probed = excluded.probed, findings = excluded.findings, error = excluded.error`,
    [detector, duration_ms, probed, findings, error],
  );
}

/** Returns the last run of every detector that ever ran, by name. */
export async function listDetectorRuns(db: Db): Promise<DetectorRun[]> {
  const rows = await db.query(
    `SELECT detector, last_run_at, duration_ms, probed, findings, error FROM detections ORDER BY detector`,
  );
  return rows.map(({ last_run_at, ...run }) => ({
    ...run as Omit<DetectorRun, "last_run_at">,
    last_run_at: last_run_at.toISOString(),
  }));
}

/** Records findings. One that is known counts one more sighting; one that was cleared begins anew. */
export async function recordFindings(db: Db, findings: readonly NewFinding[]): Promise<void> {
  if (findings.length === 0) return;
  await db.execute(
    `INSERT INTO findings AS f
       (fingerprint, detector, service, host, place, kind, code, severity, root, summary, detail, target)
     SELECT fingerprint, detector, service, host, coalesce(place, ''), kind, code, severity, root, summary, detail, target
     FROM jsonb_to_recordset($1) AS n (fingerprint text, detector text, service text, host text, place text, kind text,
       code text, severity text, root text, summary text, detail jsonb, target jsonb)
     ORDER BY fingerprint
     ON CONFLICT (tenant_id, fingerprint) DO UPDATE SET detector = excluded.detector, service = excluded.service,
       host = excluded.host, place = excluded.place, kind = excluded.kind, code = excluded.code, severity = excluded.severity,
       root = excluded.root, summary = excluded.summary, detail = excluded.detail, target = excluded.target,
       sightings = f.sightings + 1, last_seen_at = now(), cleared_at = NULL,
       first_seen_at = CASE WHEN f.cleared_at IS NULL THEN f.first_seen_at ELSE now() END`,
    [JSON.stringify(findings)],
  );
  await keepComposedTexts(db, findings.map(({ summary, detail }) => [summary, detail]));
}

/**
 * Marks all findings of a detector as cleared, except those that are present. Findings about services of tests stay: no
 * sweep looks at them, only their own test does.
 *
 * @param hosts undefined: on any host
 * @param places those that were looked at
 */
export async function clearOtherFindings(
  db: Db,
  { detector, hosts, places, present }: {
    readonly detector: string;
    readonly hosts: readonly string[] | undefined;
    readonly places: readonly string[];
    readonly present: readonly string[];
  },
): Promise<void> {
  await db.execute(
    `UPDATE findings f SET cleared_at = now()
     WHERE detector = $1 AND ($2::text[] IS NULL OR host = ANY ($2)) AND place = ANY ($4)
       AND cleared_at IS NULL AND fingerprint <> ALL ($3::text[])
       AND NOT EXISTS (SELECT FROM services s WHERE s.name = f.service AND s.origin = 'test')`,
    [detector, hosts ?? null, present, places],
  );
}

/** Records the likely causes of findings, as they are known once all places have looked. */
export async function setFindingRoots(
  db: Db,
  roots: readonly Pick<FindingRecord, "fingerprint" | "root">[],
): Promise<void> {
  if (roots.length === 0) return;
  await db.execute(
    `UPDATE findings f SET root = n.root FROM jsonb_to_recordset($1) AS n (fingerprint text, root text)
     WHERE f.fingerprint = n.fingerprint`,
    [JSON.stringify(roots)],
  );
}

/** Deletes findings that were cleared more than this many days ago. */
export async function pruneFindings(db: Db, days: number): Promise<void> {
  await db.execute(
    "DELETE FROM findings WHERE cleared_at < now() - make_interval(days => $1)",
    [days],
  );
}

/** Marks a finding as cleared. */
export async function clearFinding(db: Db, fingerprint: string): Promise<void> {
  await db.execute(
    "UPDATE findings SET cleared_at = now() WHERE fingerprint = $1 AND cleared_at IS NULL",
    [fingerprint],
  );
}

/** Returns for how many milliseconds a finding is cleared, by PostgreSQL's clock; 0: it is not. */
export async function getClearedMs(db: Db, fingerprint: string): Promise<number> {
  const row = await db.first<{ ms: string }>(
    `SELECT extract(epoch FROM clock_timestamp() - cleared_at) * 1000 AS ms FROM findings
     WHERE fingerprint = $1 AND cleared_at IS NOT NULL`,
    [fingerprint],
  );
  return row ? Number(row.ms) : 0;
}

/** Stores what is known now of the alerts that a finding was found by. */
export async function putFindingAlerts(
  db: Db,
  fingerprint: string,
  alerts: readonly unknown[],
): Promise<void> {
  await db.execute(
    `UPDATE findings SET target = target || jsonb_build_object('alerts', $2::jsonb)
     WHERE fingerprint = $1 AND cleared_at IS NULL`,
    [fingerprint, JSON.stringify(alerts)],
  );
}

/** Returns a finding by its fingerprint, or undefined. */
export async function getFinding(db: Db, fingerprint: string): Promise<FindingRecord | undefined> {
  const row = await db.first("SELECT * FROM findings WHERE fingerprint = $1", [fingerprint]);
  return row && toFinding(row);
}

/** Returns findings by their fingerprints. Unknown ones are left out. */
export async function getFindings(
  db: Db,
  fingerprints: readonly string[],
): Promise<Map<string, FindingRecord>> {
  const rows = await db.query(
    "SELECT * FROM findings WHERE fingerprint = ANY ($1::text[])",
    [fingerprints],
  );
  return new Map(rows.map((row) => [row.fingerprint, toFinding(row)]));
}

/** Returns findings that are present, oldest first. */
export async function listOpenFindings(
  db: Db,
  { detector, host }: { readonly detector?: string; readonly host?: string } = {},
): Promise<FindingRecord[]> {
  const rows = await db.query(
    `SELECT * FROM findings
     WHERE cleared_at IS NULL AND ($1::text IS NULL OR detector = $1) AND ($2::text IS NULL OR host = $2)
     ORDER BY first_seen_at`,
    [detector, host],
  );
  return rows.map(toFinding);
}

/** Returns findings that are present on the services that one needs, directly or not, those nearest to it first. */
export async function listFindingsOfDependencies(
  db: Db,
  service: string,
): Promise<Pick<FindingRecord, "service" | "detector" | "code">[]> {
  return await db.query(
    `SELECT f.service, f.detector, f.code
     FROM services start, services_reached(start.id, $2, true) AS r
     JOIN services s USING (id) JOIN findings f ON f.service = s.name AND f.cleared_at IS NULL
     WHERE start.name = $1 ORDER BY r.distance, f.first_seen_at`,
    [service, MAX_DEPTH],
  );
}

function toFinding(row: Row): FindingRecord {
  return {
    fingerprint: row.fingerprint,
    detector: row.detector,
    service: row.service,
    host: row.host,
    place: row.place,
    kind: row.kind,
    code: row.code,
    severity: row.severity,
    root: row.root,
    summary: row.summary,
    detail: row.detail,
    target: row.target,
    sightings: Number(row.sightings),
    first_seen_at: row.first_seen_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    cleared_at: row.cleared_at?.toISOString() ?? null,
  };
}
