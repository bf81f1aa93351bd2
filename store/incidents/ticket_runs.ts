/** Tickets and the runs of the loop that work on them. */
import type { Db } from "../connection.ts";

/** Returns the id of a run's ticket, or undefined. @param status if given, the ticket must have it */
export async function findTicketOfRun(
  db: Db,
  workflowId: string,
  runId: string,
  status?: "open",
): Promise<string | undefined> {
  const row = await db.first(
    `SELECT id FROM tickets
     WHERE workflow_id = $1 AND run_id = $2 AND ($3::text IS NULL OR status = $3)`,
    [workflowId, runId, status],
  );
  return row?.id;
}

/**
 * Returns the open ticket of a fault, or undefined, and locks it until the transaction ends. A fault has at most one.
 * Must run in a transaction.
 */
export async function lockOpenTicket(
  trx: Db,
  fingerprint: string,
): Promise<{ id: string; escalated: boolean; workflowId: string; runId: string } | undefined> {
  return await trx.first(
    `SELECT id, escalated, workflow_id AS "workflowId", run_id AS "runId" FROM tickets
     WHERE fingerprint = $1 AND status = 'open' FOR UPDATE`,
    [fingerprint],
  );
}

/** Gives a ticket that waits for people to a new run for the same fault. Must run in a transaction. */
export async function takeOverTicket(
  trx: Db,
  id: string,
  workflowId: string,
  runId: string,
): Promise<void> {
  await trx.execute(
    `UPDATE tickets SET workflow_id = $2, run_id = $3, escalated = false, outcome = NULL,
       handed_back_at = NULL WHERE id = $1`,
    [id, workflowId, runId],
  );
  await trx.execute("DELETE FROM ticket_sightings WHERE ticket_id = $1", [id]); // of the run before
}

/** Counts that a sweep has found faults again while a run works on them. */
export async function countRepeatSightings(db: Db, fingerprints: readonly string[]): Promise<void> {
  if (fingerprints.length === 0) return;
  await db.execute(
    `INSERT INTO ticket_sightings AS s (ticket_id, found_again)
     SELECT id, 1 FROM tickets
     WHERE status = 'open' AND NOT escalated AND run_id IS NOT NULL AND fingerprint = ANY ($1::text[])
     ORDER BY id
     ON CONFLICT (tenant_id, ticket_id) DO UPDATE SET found_again = s.found_again + 1`,
    [fingerprints],
  );
}

/** Returns how often sweeps have found a ticket's fault again since its run began, ≥ 0. */
export async function getRepeatSightings(db: Db, ticketId: string): Promise<number> {
  const row = await db.first(
    "SELECT found_again FROM ticket_sightings WHERE ticket_id = $1",
    [ticketId],
  );
  return Number(row?.found_again ?? 0);
}

/** A fault as it is found now. */
interface FaultNow {
  readonly fingerprint: string;
  readonly code: string;
}

/**
 * Returns those of the given faults whose ticket waits for people, or was taken by one. Where the code is one that the ticket
 * has not had before, it is another fault of the same thing, which its runbook may mend.
 */
export async function listEscalatedFaults(db: Db, faults: readonly FaultNow[]): Promise<string[]> {
  const rows = await db.query(
    `SELECT DISTINCT t.fingerprint
     FROM unnest($1::text[], $2::text[]) AS f (fingerprint, code) JOIN tickets t USING (fingerprint)
     WHERE t.status = 'open' AND (t.taken_by IS NOT NULL OR t.escalated AND t.handed_back_at IS NULL AND EXISTS (
       SELECT FROM ticket_events e WHERE e.ticket_id = t.id
         AND e.kind IN ('detected', 'diagnosed', 'verification_failed') AND f.code IN (e.data ->> 'code', e.data ->> 'symptom')))`,
    [faults.map(({ fingerprint }) => fingerprint), faults.map(({ code }) => code)],
  );
  return rows.map(({ fingerprint }) => fingerprint);
}

/** A ticket that waits for people although its fault is gone. */
export interface RecoveredTicket {
  readonly ticket_id: string;
  readonly fingerprint: string;
  readonly service: string | null;
  readonly opened_at: Date;
  /** Code of the fault when it was last seen. */
  readonly code: string;
  /** ISO 8601. */
  readonly cleared_at: string;
  /** Task of it that people have done last; null: none. */
  readonly done_task: string | null;
}

/** Lists tickets that wait for people, and no approval, although the detectors no longer find their fault. */
export async function listRecovered(db: Db): Promise<RecoveredTicket[]> {
  const rows = await db.query(
    `SELECT t.id AS ticket_id, t.fingerprint, t.service, t.opened_at, f.code, f.cleared_at,
       (SELECT data ->> 'task_id' FROM ticket_events e WHERE e.ticket_id = t.id AND e.kind = 'task_done'
        ORDER BY e.id DESC LIMIT 1) AS done_task
     FROM tickets t JOIN findings f ON f.fingerprint = t.fingerprint
     WHERE t.status = 'open' AND t.escalated AND f.cleared_at IS NOT NULL
       AND NOT EXISTS (SELECT FROM approvals a WHERE a.ticket_id = t.id AND a.status = 'pending')
     ORDER BY t.id`,
  );
  return rows.map(({ cleared_at, ...row }) => ({
    ...row as Omit<RecoveredTicket, "cleared_at">,
    cleared_at: cleared_at.toISOString(),
  }));
}

/** Leaves the ticket of an ended run to people. @returns false if it is not that run's, or not open, or escalated already */
export async function escalateTicketOfRun(
  db: Db,
  id: string,
  runId: string,
  receiptId: string,
): Promise<boolean> {
  const escalated = await db.execute(
    `UPDATE tickets SET escalated = true, outcome = 'escalated', receipt_id = $3
     WHERE id = $1 AND run_id = $2 AND status = 'open' AND NOT escalated`,
    [id, runId, receiptId],
  );
  return escalated > 0;
}

/** Gives an escalated ticket back to its run, which goes on. @returns false if it is not that run's, or not escalated */
export async function returnTicketToRun(db: Db, id: string, runId: string): Promise<boolean> {
  const returned = await db.execute(
    `UPDATE tickets SET escalated = false, outcome = NULL, receipt_id = NULL
     WHERE id = $1 AND run_id = $2 AND status = 'open' AND escalated`,
    [id, runId],
  );
  return returned > 0;
}

/** Returns the fingerprint of a ticket's fault, and how often the fault had a ticket before. */
export async function getFaultHistory(
  db: Db,
  ticketId: string,
): Promise<{ fingerprint: string | null; count: number; last_opened_at: string | null }> {
  const row = await db.first(
    `SELECT t.fingerprint, count(e.id)::int AS count, max(e.opened_at) AS last
     FROM tickets t LEFT JOIN tickets e ON e.fingerprint = t.fingerprint AND e.opened_at < t.opened_at
     WHERE t.id = $1 GROUP BY t.fingerprint`,
    [ticketId],
  );
  return {
    fingerprint: row?.fingerprint ?? null,
    count: row?.count ?? 0,
    last_opened_at: row?.last?.toISOString() ?? null,
  };
}
