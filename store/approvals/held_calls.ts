import { redactSecrets } from "../../contract/mod.ts";
import type { Db, Row } from "../connection.ts";

/** State of a held call: `intended` is written before it is run, `begun` once a process runs it. */
type HeldCallState =
  | "waiting"
  | "intended"
  | "begun"
  | "done"
  | "failed"
  | "refused"
  | "unknown";

/** A call to hold until people have decided, bound to exactly these arguments. */
export interface NewHeldCall {
  readonly approvalId: string;
  readonly decisionId: string;
  readonly door: "rest" | "mcp" | "a2a";
  readonly tool: string;
  readonly operation: string;
  /** Canonical JSON of the checked arguments. */
  readonly input: string;
  /** SHA-256 of the approval's action, hex. */
  readonly actionSha256: string;
  readonly keyId: string;
  readonly address: string;
}

/** A call that waits for, or was released by, an approval. */
export interface HeldCall extends NewHeldCall {
  readonly tenant: string;
  /** The approval's commitment to its action, hex: how receipts name it. */
  readonly actionCommitment: string;
  readonly state: HeldCallState;
  /** Number of the lock of the process that runs it, see `openHolder`; null: none does. */
  readonly holder: number | null;
  /** JSON of its output; null: none yet. */
  readonly output: string | null;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly receiptId: string | null;
  readonly endedAt: Date | null;
}

/** The end of a held call. */
export type HeldCallEnd = Pick<HeldCall, "output" | "error" | "receiptId"> & {
  readonly state: "done" | "failed" | "refused" | "unknown";
};

/** Stores a call until people have decided. @returns false where the same call of the same key waits already */
export async function putHeldCall(db: Db, call: NewHeldCall): Promise<boolean> {
  return await db.execute(
    `INSERT INTO held_calls
       (approval_id, decision_id, door, tool, operation, input, action_sha256, key_id, address)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (tenant_id, key_id, action_sha256) WHERE collected_at IS NULL DO NOTHING`,
    [
      call.approvalId,
      call.decisionId,
      call.door,
      call.tool,
      call.operation,
      call.input,
      call.actionSha256,
      call.keyId,
      call.address,
    ],
  ) > 0;
}

/** Deletes a call whose approval never began. */
export async function dropHeldCall(db: Db, approvalId: string): Promise<void> {
  await db.execute(
    "DELETE FROM held_calls WHERE approval_id = $1 AND state = 'waiting'",
    [approvalId],
  );
}

/** Returns a call by the id of its approval, or undefined. */
export async function getHeldCall(db: Db, approvalId: string): Promise<HeldCall | undefined> {
  const row = await db.first(
    `SELECT h.*, a.action_commitment FROM held_calls h JOIN approvals a ON (a.tenant_id, a.id) = (h.tenant_id, h.approval_id)
     WHERE h.approval_id = $1`,
    [approvalId],
  );
  return row && fromRow(row);
}

/** Returns a key's call of exactly this action whose end was not collected yet, or undefined. */
export async function findHeldCall(
  db: Db,
  keyId: string,
  actionSha256: string,
): Promise<HeldCall | undefined> {
  const row = await db.first(
    `SELECT h.*, a.action_commitment FROM held_calls h JOIN approvals a ON (a.tenant_id, a.id) = (h.tenant_id, h.approval_id)
     WHERE h.key_id = $1 AND h.action_sha256 = $2 AND h.collected_at IS NULL`,
    [keyId, actionSha256],
  );
  return row && fromRow(row);
}

/** Returns a key's oldest call of a tool whose arguments contain these and whose end was not collected yet, or undefined. */
export async function findHeldCallLike(
  db: Db,
  keyId: string,
  tool: string,
  input: string,
): Promise<HeldCall | undefined> {
  const row = await db.first(
    `SELECT h.*, a.action_commitment FROM held_calls h JOIN approvals a ON (a.tenant_id, a.id) = (h.tenant_id, h.approval_id)
     WHERE h.key_id = $1 AND h.tool = $2 AND h.input::jsonb @> $3::jsonb AND h.collected_at IS NULL
     ORDER BY h.asked_at LIMIT 1`,
    [keyId, tool, input],
  );
  return row && fromRow(row);
}

/** Lists the calls of a tool that have ended after people had approved them, but for one, newest first. */
export async function listEndedCalls(
  db: Db,
  tool: string,
  except: string,
  limit: number,
): Promise<HeldCall[]> {
  const rows = await db.query(
    `SELECT h.*, a.action_commitment FROM held_calls h JOIN approvals a ON (a.tenant_id, a.id) = (h.tenant_id, h.approval_id)
     WHERE h.tool = $1 AND h.approval_id <> $2 AND h.state IN ('done', 'failed', 'unknown')
     ORDER BY h.ended_at DESC LIMIT $3`,
    [tool, except, limit],
  );
  return rows.map(fromRow);
}

/** Counts a key's calls that wait for people. */
export async function countWaitingCalls(db: Db, keyId: string): Promise<number> {
  const row = await db.first<{ n: number }>(
    `SELECT count(*)::int AS n FROM held_calls h JOIN approvals a ON a.id = h.approval_id
     WHERE h.key_id = $1 AND h.state = 'waiting' AND h.collected_at IS NULL AND a.status = 'pending'`,
    [keyId],
  );
  return row!.n;
}

/**
 * Notes that the caller was given the call's end, and removes secrets, which are shown once, from what is stored.
 * A call that was denied or has expired keeps them: it is run with them if it is reopened and approved.
 *
 * @returns false where that was noted before
 */
export async function collectHeldCall(
  db: Db,
  { approvalId, input, output, endedAt }: Pick<
    HeldCall,
    "approvalId" | "input" | "output" | "endedAt"
  >,
): Promise<boolean> {
  return await db.execute(
    `UPDATE held_calls
     SET collected_at = now(), input = coalesce($2, input), output = coalesce($3, output)
     WHERE approval_id = $1 AND collected_at IS NULL`,
    [approvalId, ...(endedAt ? [redact(input), redact(output)] : [null, null])],
  ) > 0;
}

/** Notes that a call is going to be run. @returns false where that was noted before */
export async function intendHeldCall(db: Db, approvalId: string): Promise<boolean> {
  return await db.execute(
    "UPDATE held_calls SET state = 'intended' WHERE approval_id = $1 AND state = 'waiting'",
    [approvalId],
  ) > 0;
}

/** Notes that the holder of a lock runs a call now. @returns false where somebody has begun it already */
export async function beginHeldCall(db: Db, approvalId: string, holder: number): Promise<boolean> {
  return await db.execute(
    `UPDATE held_calls SET state = 'begun', holder = $2
     WHERE approval_id = $1 AND state = 'intended'`,
    [approvalId, holder],
  ) > 0;
}

/** Notes how a call ended. @returns false where that is known already */
export async function endHeldCall(
  db: Db,
  approvalId: string,
  { state, output, error, receiptId }: HeldCallEnd,
): Promise<boolean> {
  const ended = await db.first<{ input: string; collected_at: Date | null }>(
    `UPDATE held_calls SET state = $2, output = $3, error = $4, receipt_id = $5, ended_at = now()
     WHERE approval_id = $1 AND ended_at IS NULL RETURNING input, collected_at`,
    [approvalId, state, output, error && JSON.stringify(error), receiptId],
  );
  if (ended?.collected_at) { // it was reopened after its caller had been told of its denial
    await db.execute(
      "UPDATE held_calls SET input = $2, output = $3 WHERE approval_id = $1",
      [approvalId, redact(ended.input), redact(output)],
    );
  }
  return ended !== undefined;
}

/** Notes that its caller no longer wants a call. @returns false where it is under way or has ended */
export async function withdrawHeldCall(
  db: Db,
  approvalId: string,
  { error, receiptId }: Pick<HeldCall, "error" | "receiptId">,
): Promise<boolean> {
  return await db.execute(
    `UPDATE held_calls
     SET state = 'refused', error = $2, receipt_id = $3, ended_at = now(), collected_at = now()
     WHERE approval_id = $1 AND state = 'waiting' AND ended_at IS NULL`,
    [approvalId, error && JSON.stringify(error), receiptId],
  ) > 0;
}

/** Replaces the secrets in a JSON text. */
function redact<T extends string | null>(json: T): T {
  return json && JSON.stringify(redactSecrets(JSON.parse(json))) as T;
}

function fromRow(row: Row): HeldCall {
  return {
    approvalId: row.approval_id,
    decisionId: row.decision_id,
    door: row.door,
    tool: row.tool,
    operation: row.operation,
    input: row.input,
    actionSha256: row.action_sha256,
    tenant: row.tenant_id,
    actionCommitment: row.action_commitment,
    keyId: row.key_id,
    address: row.address,
    state: row.state,
    holder: row.holder,
    output: row.output,
    error: row.error,
    receiptId: row.receipt_id,
    endedAt: row.ended_at,
  };
}
