import type { ProcessName, ProcessStatus } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** A process, as it tells of itself. */
export interface ProcessReport {
  /** Id of its place in a tree of processes: the process that follows there has the same. A UUID. */
  readonly id: string;
  readonly name: ProcessName;
  /** Name of its machine. */
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** Restarts of its place; null: nobody counts them. */
  readonly restarts: number | null;
  readonly status: Exclude<ProcessStatus, "silent" | "absent">;
  /** Null: for nothing. */
  readonly waitsFor: string | null;
  /** Seconds since Temporal last saw a poll of it, by task queue; null: it takes no work from Temporal. */
  readonly polls: Readonly<Record<string, number>> | null;
}

/** A process, as far as it was heard of. */
export interface ProcessRecord extends Omit<ProcessReport, "status"> {
  readonly status: Exclude<ProcessStatus, "absent">;
  /** When it took on its status; of a silent one, when it was heard of last. */
  readonly since: Date;
}

/** Seconds without a report after which a process counts as silent: three reports. */
const SILENT_SECONDS = 6;
/** Seconds by which a report may seem to come from the future. More of it means that the clock was set back. */
const FUTURE_SECONDS = 1;
/** Time after which a silent process is forgotten. */
const FORGET = "1 hour";

/** Stores what processes of one's own role tell. All times are the database's, so that no other clock counts. */
export async function reportProcesses(
  db: Db,
  reports: readonly ProcessReport[],
): Promise<void> {
  await db.execute(
    `INSERT INTO processes AS p (id, name, host, pid, version, restarts, status, waits_for, polls)
     SELECT id, name, host, pid, version, restarts, status, "waitsFor", nullif(polls, 'null')
     FROM jsonb_to_recordset($1) AS r(id uuid, name text, host text, pid int, version text, restarts int, status text,
       "waitsFor" text, polls jsonb)
     ON CONFLICT (id) DO UPDATE SET host = excluded.host, pid = excluded.pid, version = excluded.version,
       restarts = excluded.restarts, status = excluded.status, waits_for = excluded.waits_for, polls = excluded.polls,
       since = CASE WHEN (p.pid, p.restarts, p.status) IS DISTINCT FROM (excluded.pid, excluded.restarts, excluded.status)
         THEN excluded.since ELSE p.since END,
       heard_at = excluded.heard_at`,
    [JSON.stringify(reports)],
  );
}

/**
 * Returns when the process of a name was last started again by its supervisor, and has run since; undefined: it was not, or
 * does not run. Takes the worker's role.
 */
export async function findRestart(db: Db, name: string): Promise<Date | undefined> {
  const row = await db.first<{ since: Date | null }>(
    `SELECT max(since) AS since FROM processes WHERE name = $1 AND restarts > 0 AND status = 'running'`,
    [name],
  );
  return row?.since ?? undefined;
}

/** Removes a process that has ended as it should, and those of its role that have been silent for an hour. */
export async function forgetProcess(db: Db, id: string): Promise<void> {
  await db.execute(
    `DELETE FROM processes WHERE id = $1 OR heard_at < clock_timestamp() - $2::interval`,
    [id, FORGET],
  );
}

/** Lists the processes that were heard of within an hour. Takes the gateway's role. */
export async function listProcesses(db: Db): Promise<ProcessRecord[]> {
  return await db.query<ProcessRecord>(
    `SELECT id, name, host, pid, version, restarts,
       CASE WHEN heard THEN status ELSE 'silent' END AS status,
       CASE WHEN heard THEN waits_for END AS "waitsFor",
       CASE WHEN heard THEN polls END AS polls,
       CASE WHEN heard THEN since ELSE heard_at END AS since
     FROM (SELECT *, heard_at BETWEEN clock_timestamp() - make_interval(secs => $1)
         AND clock_timestamp() + make_interval(secs => $2) AS heard FROM processes) p
     WHERE heard_at > clock_timestamp() - $3::interval
     ORDER BY name, host, id`,
    [SILENT_SECONDS, FUTURE_SECONDS, FORGET],
  );
}
