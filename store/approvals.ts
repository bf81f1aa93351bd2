import type { Queryable } from "./connection.ts";

/** Where an approval stands. */
export type ApprovalStatus = "pending" | "approved" | "denied" | "expired";

/** What led there. */
export type ApprovalMoveKind =
  | "requested"
  | "approved"
  | "denied"
  | "reopened"
  | "expired"
  | "escalated";

/** Somebody who made a move. */
export interface Approver {
  readonly key_id: string;
  readonly principal: string;
}

/** The run of a loop that waits, or that was started. */
export interface ApprovalRun {
  readonly workflow_id: string;
  readonly run_id: string;
}

/** What somebody is asked to approve. */
export interface NewApproval {
  /** `APR-` and 12 hex characters. */
  readonly id: string;
  /** What it is about: a ticket, or the key that asks. */
  readonly subject: string;
  readonly ticketId: string | null;
  readonly description: string;
  readonly action: Readonly<Record<string, unknown>>;
  /** Over the action's canonical JSON, hex. */
  readonly actionSha256: string;
  /** Principal. */
  readonly requestedBy: string;
  /** Null: the platform itself. */
  readonly requestedByKey: string | null;
  /** How many must approve, 1 to 10. */
  readonly needed: number;
  readonly expiresInSeconds: number;
  readonly escalateAfterSeconds: number;
  /** With the finding that it is about, where a loop asks. */
  readonly askingRun: Readonly<Record<string, unknown>> | null;
}

/** An approval as it is shown. */
export interface ApprovalRecord extends NewApproval {
  /** Of the key that asked; null: a loop asks, or nobody's key. */
  readonly requestedByTenant: string | null;
  readonly status: ApprovalStatus;
  readonly approvers: readonly Approver[];
  readonly escalated: boolean;
  /** How many moves there were; 0: its workflow has not begun yet. */
  readonly moves: number;
  readonly askedAt: string;
  readonly expiresAt: string | null;
  readonly decidedAt: string | null;
  readonly resumedRun: ApprovalRun | null;
}

/** A move, as it is written down. */
export interface ApprovalMove {
  /** From 1. */
  readonly number: number;
  readonly move: ApprovalMoveKind;
  /** That it led to. */
  readonly status: ApprovalStatus;
  /** All who have approved since it is pending. */
  readonly approvers: readonly Approver[];
  /** Absent: time did it. */
  readonly by?: Approver;
  /** Ids of keys whose approvals do not count any more. */
  readonly notCounted?: readonly string[];
  readonly receiptId: string;
}

/** Keeps what is asked for. What is there already stays. */
export async function putApproval(on: Queryable, approval: NewApproval): Promise<void> {
  await on("approvals").insert({
    id: approval.id,
    subject: approval.subject,
    ticket_id: approval.ticketId,
    description: approval.description,
    action: JSON.stringify(approval.action),
    action_sha256: approval.actionSha256,
    requested_by: approval.requestedBy,
    requested_by_key: approval.requestedByKey,
    needed: approval.needed,
    expires_in_seconds: approval.expiresInSeconds,
    escalate_after_seconds: approval.escalateAfterSeconds,
    asking_run: approval.askingRun && JSON.stringify(approval.askingRun),
  }).onConflict("id").ignore();
}

/** Forgets what was asked for and never began. */
export async function dropApproval(on: Queryable, id: string): Promise<void> {
  await on("approvals").where({ id, moves: 0 }).delete();
}

/**
 * Writes a move down, once, and shows the state that it led to, unless a later move is shown already.
 *
 * @returns false where it was written down before
 */
export async function addApprovalMove(
  on: Queryable,
  id: string,
  { number, move, status, approvers, by, notCounted = [], receiptId }: ApprovalMove,
): Promise<boolean> {
  const added = await on("approval_moves").insert({
    approval_id: id,
    number,
    move,
    status,
    key_id: by?.key_id ?? null,
    principal: by?.principal ?? null,
    not_counted: JSON.stringify(notCounted),
    receipt_id: receiptId,
  }).onConflict(["approval_id", "number"]).ignore().returning("number");
  if (added.length === 0) return false;
  const begins = move === "requested" || move === "reopened";
  await on("approvals").where({ id }).where("moves", "<", number).update({
    moves: number,
    status,
    approvers: JSON.stringify(approvers),
    decided_at: status === "pending" ? null : on.fn.now(),
    ...(move === "escalated" ? { escalated: true } : {}),
    ...(begins
      ? { escalated: false, expires_at: on.raw("now() + expires_in_seconds * interval '1 second'") }
      : {}),
  });
  return true;
}

/** Notes the run that an approval started, as the one that asked had ended. */
export async function setResumedRun(on: Queryable, id: string, run: ApprovalRun): Promise<void> {
  await on("approvals").where({ id }).update({ resumed_run: JSON.stringify(run) });
}

/** An approval by id, or undefined. */
export async function getApproval(on: Queryable, id: string): Promise<ApprovalRecord | undefined> {
  const row = await withTenant(on).where({ id }).first();
  return row && fromRow(row);
}

/** The same, held until the transaction ends: two moves at once are made one after the other. */
export async function lockApproval(on: Queryable, id: string): Promise<ApprovalRecord | undefined> {
  const row = await withTenant(on).where({ id }).forUpdate().first();
  return row && fromRow(row);
}

/** Approvals, newest first. */
export async function listApprovals(
  on: Queryable,
  { status, limit }: { status?: ApprovalStatus; limit: number },
): Promise<ApprovalRecord[]> {
  const query = withTenant(on);
  if (status) query.where({ status });
  return (await query.orderBy("asked_at", "desc").orderBy("id").limit(limit)).map(fromRow);
}

/** Approvals, each with the tenant of the key that asked, be that revoked meanwhile. */
function withTenant(on: Queryable) {
  const tenant = on("keys").select("tenant").whereRaw("keys.id = approvals.requested_by_key");
  return on("approvals").select("approvals.*", tenant.as("requested_by_tenant"));
}

/** Ids of all approvals that are pending, oldest first. */
export async function listPendingApprovals(on: Queryable): Promise<{ id: string }[]> {
  return await on("approvals").where({ status: "pending" }).orderBy("asked_at").select("id");
}

/** An approval's moves, oldest first. */
export async function listApprovalMoves(on: Queryable, id: string) {
  const rows = await on("approval_moves").where({ approval_id: id }).orderBy("number");
  return rows.map(({ at, move, status, key_id, principal, not_counted, receipt_id }) => ({
    at: at.toISOString() as string,
    move: move as ApprovalMoveKind,
    status: status as ApprovalStatus,
    key_id: key_id as string | null,
    principal: principal as string | null,
    not_counted: not_counted as string[],
    receipt_id: receipt_id as string,
  }));
}

/** Id of the receipt of a move, or null. */
export async function getMoveReceipt(
  on: Queryable,
  id: string,
  number: number,
): Promise<string | null> {
  const row = await on("approval_moves").where({ approval_id: id, number }).first("receipt_id");
  return row?.receipt_id ?? null;
}

// deno-lint-ignore no-explicit-any -- a row as the driver gives it
function fromRow(row: any): ApprovalRecord {
  return {
    id: row.id,
    subject: row.subject,
    ticketId: row.ticket_id,
    description: row.description,
    action: row.action,
    actionSha256: row.action_sha256,
    requestedBy: row.requested_by,
    requestedByKey: row.requested_by_key,
    requestedByTenant: row.requested_by_tenant,
    needed: row.needed,
    expiresInSeconds: row.expires_in_seconds,
    escalateAfterSeconds: row.escalate_after_seconds,
    askingRun: row.asking_run,
    status: row.status,
    approvers: row.approvers,
    escalated: row.escalated,
    moves: row.moves,
    askedAt: row.asked_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    decidedAt: row.decided_at?.toISOString() ?? null,
    resumedRun: row.resumed_run,
  };
}
