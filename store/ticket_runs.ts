import type { Queryable } from "./connection.ts";

/** The ticket of a run, or undefined. @param status that it has to have */
export async function findTicketOfRun(
  on: Queryable,
  workflowId: string,
  runId: string,
  status?: "open",
): Promise<string | undefined> {
  const row = await on("tickets")
    .where({ workflow_id: workflowId, run_id: runId, ...(status ? { status } : {}) }).first("id");
  return row?.id;
}

/** The open ticket of a fault, locked until the transaction ends; there is one at the most. */
export async function lockOpenTicket(
  on: Queryable,
  fingerprint: string,
): Promise<{ id: string; escalated: boolean; workflowId: string; runId: string } | undefined> {
  const row = await on("tickets").where({ fingerprint, status: "open" }).forUpdate()
    .first("id", "escalated", "workflow_id", "run_id");
  return row && {
    id: row.id,
    escalated: row.escalated,
    workflowId: row.workflow_id,
    runId: row.run_id,
  };
}

/** Gives a ticket that waits for people to a new run about the same fault. */
export async function takeOverTicket(
  on: Queryable,
  id: string,
  workflowId: string,
  runId: string,
): Promise<void> {
  await on("tickets").where({ id })
    .update({ workflow_id: workflowId, run_id: runId, escalated: false, outcome: null });
  await on("ticket_sightings").where({ ticket_id: id }).delete(); // they were of the run before
}

/** Counts that a sweep has found these faults again which runs are on. */
export async function countRepeatSightings(
  on: Queryable,
  fingerprints: readonly string[],
): Promise<void> {
  if (fingerprints.length === 0) return;
  await on.raw(
    `INSERT INTO ticket_sightings AS s (ticket_id, found_again)
     SELECT id, 1 FROM tickets
     WHERE status = 'open' AND NOT escalated AND run_id IS NOT NULL AND fingerprint = ANY (?::text[])
     ORDER BY id
     ON CONFLICT (ticket_id) DO UPDATE SET found_again = s.found_again + 1`,
    [[...fingerprints]],
  );
}

/** How often sweeps have found a ticket's fault again since its run is on it, ≥ 0. */
export async function getRepeatSightings(on: Queryable, ticketId: string): Promise<number> {
  const row = await on("ticket_sightings").where({ ticket_id: ticketId }).first("found_again");
  return Number(row?.found_again ?? 0);
}

/** Which of these faults have a ticket that waits for people. */
export async function listEscalatedFaults(
  on: Queryable,
  fingerprints: readonly string[],
): Promise<string[]> {
  return await on("tickets").where({ status: "open", escalated: true })
    .whereIn("fingerprint", fingerprints).distinct().pluck("fingerprint");
}

/** Leaves a ticket to people whose run has ended. @returns false where it is not that run's, or is not open any more */
export async function escalateTicketOfRun(
  on: Queryable,
  id: string,
  runId: string,
  receiptId: string,
): Promise<boolean> {
  return await on("tickets").where({ id, run_id: runId, status: "open", escalated: false })
    .update({ escalated: true, outcome: "escalated", receipt_id: receiptId }) > 0;
}

/** Open tickets whose run the loop started, for comparing with what really runs. */
export async function listOpenRuns(
  on: Queryable,
): Promise<{ ticketId: string; workflowId: string; runId: string }[]> {
  const rows = await on("tickets").where({ status: "open", escalated: false }).whereNotNull(
    "run_id",
  )
    .orderBy("opened_at").limit(1000);
  return rows.map((row) => ({ ticketId: row.id, workflowId: row.workflow_id, runId: row.run_id }));
}
