import type { Db } from "../connection.ts";
import { HOLDER_LOCK } from "../holder.ts";

/** A call that was allowed, and whose process died before it noted how the call ended. */
export interface AbandonedCall {
  /** Id of its decision. */
  readonly id: string;
  readonly at: Date;
  readonly keyId: string;
  readonly door: string;
  readonly tool: string;
  readonly operation: string;
  readonly effect: string;
  readonly callReceiptId: string;
  /** True where a receipt of the decision was requested; without it the call was never begun. */
  readonly sealed: boolean;
}

/** Settles the calls whose end has a receipt. */
export async function settleEndedCalls(db: Db): Promise<void> {
  await db.execute(
    `UPDATE governance_decisions SET settled = true
     WHERE NOT settled AND EXISTS (SELECT FROM seal_requests s WHERE s.id = call_receipt_id)`,
  );
}

/** Lists the calls that were allowed at least this long ago, are not settled, and whose process is gone. At most 500. */
export async function listAbandonedCalls(db: Db, seconds: number): Promise<AbandonedCall[]> {
  return await db.query<AbandonedCall>(
    `SELECT id, at, key_id AS "keyId", door, tool, operation, effect, call_receipt_id AS "callReceiptId",
       EXISTS (SELECT FROM seal_requests s WHERE s.id = receipt_id) AS sealed
     FROM governance_decisions d WHERE NOT settled AND at < now() - make_interval(secs => $1)
       AND NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND classid = $2 AND objid = d.holder::bigint::oid)
     ORDER BY at LIMIT 500`,
    [seconds, HOLDER_LOCK],
  );
}

/** Notes that a call's end is known, as far as it can be. @returns false where that was noted before */
export async function settleCall(db: Db, id: string): Promise<boolean> {
  return await db.execute(
    "UPDATE governance_decisions SET settled = true WHERE id = $1 AND NOT settled",
    [id],
  ) > 0;
}

/** Lists the approvals, at most 500, whose held call has not ended this long after the approval. */
export async function listOverdueHeldCalls(db: Db, seconds: number): Promise<string[]> {
  const rows = await db.query<{ approval_id: string }>(
    `SELECT h.approval_id FROM held_calls h JOIN approvals a ON a.id = h.approval_id
     WHERE h.ended_at IS NULL AND a.status = 'approved' AND a.decided_at < now() - make_interval(secs => $1)
     LIMIT 500`,
    [seconds],
  );
  return rows.map(({ approval_id }) => approval_id);
}
