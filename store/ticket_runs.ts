import type { Queryable } from "./connection.ts";

/** The ticket of a run, or undefined. @param status that it has to have */
export async function ticketOfRun(
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
}

/** Which of these faults have a ticket that waits for people. */
export async function escalatedFaults(
  on: Queryable,
  fingerprints: readonly string[],
): Promise<string[]> {
  return await on("tickets").where({ status: "open", escalated: true })
    .whereIn("fingerprint", fingerprints).distinct().pluck("fingerprint");
}

/** Leaves a ticket to people whose run has ended. @returns false where it is not that run's, or is not open any more */
export async function escalateEndedRun(
  on: Queryable,
  id: string,
  runId: string,
  receiptId: string,
): Promise<boolean> {
  return await on("tickets").where({ id, run_id: runId, status: "open", escalated: false })
    .update({ escalated: true, outcome: "escalated", receipt_id: receiptId }) > 0;
}

/** Open tickets whose run the loop started, for comparing with what really runs. */
export async function openRuns(
  on: Queryable,
): Promise<{ ticketId: string; workflowId: string; runId: string }[]> {
  const rows = await on("tickets").where({ status: "open", escalated: false }).whereNotNull(
    "run_id",
  )
    .orderBy("opened_at").limit(1000);
  return rows.map((row) => ({ ticketId: row.id, workflowId: row.workflow_id, runId: row.run_id }));
}
