/** Moves of approvals: how each came to stand as it does. */
import type { RepairOffer, SignedStatement } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";
import type { ApprovalMoveKind, ApprovalStatus, Approver } from "./approvals.ts";

/** A move to record. */
export interface ApprovalMove {
  /** From 1. */
  readonly number: number;
  readonly move: ApprovalMoveKind;
  /** Status after it. */
  readonly status: ApprovalStatus;
  /** Everyone who has approved since it is pending. */
  readonly approvers: readonly Approver[];
  /** Absent: a timeout made the move. */
  readonly by?: Approver;
  /** Ids of keys whose earlier approvals no longer count. */
  readonly notCounted?: readonly string[];
  /** Reason that the voter gave. */
  readonly reason?: string | null;
  /** Statement that the voter's passkey has signed. */
  readonly statement?: SignedStatement | null;
  /** Repair that the voter offers instead. */
  readonly offer?: RepairOffer | null;
  readonly receiptId: string;
}

/**
 * Records a move, once, and updates the approval, unless it shows a later move already.
 *
 * @returns false where the move is recorded already
 */
export async function addApprovalMove(
  trx: Db,
  id: string,
  { number, move, status, approvers, by, notCounted = [], reason = null, receiptId }: ApprovalMove,
): Promise<boolean> {
  const added = await trx.execute(
    `INSERT INTO approval_moves (approval_id, number, move, status, key_id, principal, not_counted, reason,
       receipt_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (tenant_id, approval_id, number) DO NOTHING`,
    [
      id,
      number,
      move,
      status,
      by?.key_id,
      by?.principal,
      JSON.stringify(notCounted),
      reason,
      receiptId,
    ],
  );
  if (added === 0) return false;
  const begins = move === "requested" || move === "reopened";
  await trx.execute(
    `UPDATE approvals SET moves = $2, status = $3::text, approvers = $4,
       decided_at = CASE WHEN $3::text <> 'pending' THEN now() END,
       escalated = $5 OR escalated AND NOT $6,
       expires_at = CASE WHEN $6
         THEN CASE WHEN moves = 0 THEN asked_at ELSE now() END + expires_in_seconds * interval '1 second'
         ELSE expires_at END
     WHERE id = $1 AND moves < $2`,
    [id, number, status, JSON.stringify(approvers), move === "escalated", begins],
  );
  return true;
}

/** A recorded move of an approval. */
export interface ApprovalMoveRecord {
  readonly at: string;
  readonly move: ApprovalMoveKind;
  readonly status: ApprovalStatus;
  readonly key_id: string | null;
  readonly principal: string | null;
  readonly not_counted: string[];
  /** Reason that the voter gave. */
  readonly reason: string | null;
  readonly receipt_id: string;
}

/** Lists an approval's moves, oldest first. */
export async function listApprovalMoves(db: Db, id: string): Promise<ApprovalMoveRecord[]> {
  const rows = await db.query<Omit<ApprovalMoveRecord, "at"> & { at: Date }>(
    `SELECT at, move, status, key_id, principal, not_counted, reason, receipt_id
     FROM approval_moves WHERE approval_id = $1 ORDER BY number`,
    [id],
  );
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }));
}

/** Returns how often an approval was reopened. */
export async function countReopenings(db: Db, id: string): Promise<number> {
  const row = await db.first<{ count: number }>(
    "SELECT count(*)::int AS count FROM approval_moves WHERE approval_id = $1 AND move = 'reopened'",
    [id],
  );
  return row!.count;
}

/** Returns the id of a move's receipt, or null. */
export async function getMoveReceipt(db: Db, id: string, number: number): Promise<string | null> {
  const row = await db.first<{ receipt_id: string }>(
    "SELECT receipt_id FROM approval_moves WHERE approval_id = $1 AND number = $2",
    [id, number],
  );
  return row?.receipt_id ?? null;
}
