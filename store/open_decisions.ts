import type { Queryable } from "./connection.ts";
import { HOLDER_LOCK } from "./holder.ts";

/** A call that was allowed, and whose process ended before it was known how the call did. */
export interface AbandonedCall {
  readonly id: string;
  readonly at: Date;
  readonly keyId: string;
  readonly door: string;
  readonly tool: string;
  readonly operation: string;
  readonly effect: string;
  readonly callReceiptId: string;
  /** Whether the decision was asked to be sealed; only then was the call begun. */
  readonly sealed: boolean;
}

/** Notes of calls whose end is sealed that it is. */
export async function settleEndedCalls(on: Queryable): Promise<void> {
  await on.raw(
    `UPDATE governance_decisions SET settled = true WHERE NOT settled
     AND EXISTS (SELECT FROM seal_requests s WHERE s.id = call_receipt_id)`,
  );
}

/** Calls that were allowed so many seconds ago or longer, have not ended, and whose process is gone. */
export async function listAbandonedCalls(on: Queryable, seconds: number): Promise<AbandonedCall[]> {
  const { rows } = await on.raw(
    `SELECT id, at, key_id AS "keyId", door, tool, operation, effect, call_receipt_id AS "callReceiptId",
       EXISTS (SELECT FROM seal_requests s WHERE s.id = receipt_id) AS sealed
     FROM governance_decisions d WHERE NOT settled AND at < now() - ? * interval '1 second'
       AND NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND classid = ? AND objid = d.holder::bigint::oid)
     ORDER BY at LIMIT 500`,
    [seconds, HOLDER_LOCK],
  );
  return rows;
}

/** Notes that it is known how a call ended, as far as anybody can know it. @returns false where it was already */
export async function settleCall(on: Queryable, id: string): Promise<boolean> {
  return await on("governance_decisions").where({ id, settled: false })
    .update({ settled: true }) > 0;
}

/** Approved calls that have not ended so many seconds after their approval. */
export async function listOverdueHeldCalls(on: Queryable, seconds: number): Promise<string[]> {
  const { rows } = await on.raw(
    `SELECT approval_id FROM governed_acts a JOIN approvals p ON p.id = a.approval_id
     WHERE a.ended_at IS NULL AND p.status = 'approved' AND p.decided_at < now() - ? * interval '1 second' LIMIT 500`,
    [seconds],
  );
  return rows.map(({ approval_id }: { approval_id: string }) => approval_id);
}
