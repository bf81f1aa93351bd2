/** How often a fault has come, and the problem that its incidents are cases of. */
import type { Db } from "../connection.ts";

/** An incident of a fault that has come more than once. */
export interface FaultCase {
  readonly ticket_id: string;
  readonly opened_at: Date;
  /** Memory of the service's process when it was looked at, MiB; null: not known. */
  readonly rss_mib: number | null;
}

/** Returns the incidents of a fault since a time, oldest first. */
export async function listFaultCases(
  db: Db,
  fingerprint: string,
  since: Date,
): Promise<FaultCase[]> {
  return await db.query<FaultCase>(
    `SELECT t.id AS ticket_id, t.opened_at,
       (SELECT max((o.figures ->> 'rss_mib')::float8) FROM observations o
        WHERE o.ticket_id = t.id AND o.source = 'process') AS rss_mib
     FROM tickets t WHERE t.fingerprint = $1 AND t.opened_at >= $2 ORDER BY t.opened_at, t.id`,
    [fingerprint, since],
  );
}

/** Makes incidents cases of a problem, unless they are cases of one. */
export async function setProblem(
  db: Db,
  problemId: string,
  ticketIds: readonly string[],
): Promise<void> {
  await db.execute(
    "UPDATE tickets SET problem_id = $1 WHERE id = ANY ($2::text[]) AND problem_id IS NULL",
    [problemId, ticketIds],
  );
}
