import type { ApprovalState } from "../../contract/domain/mod.ts";
import type { ApprovalGrounds } from "../../contract/records/mod.ts";
import type { Db, Row } from "../connection.ts";

/** Status of an approval. */
export type ApprovalStatus = ApprovalState["status"];

/** A change of an approval. */
export type ApprovalMoveKind =
  | "requested"
  | "approved"
  | "denied"
  | "reopened"
  | "expired"
  | "outdated"
  | "escalated";

/** The holder of a key who made a move. */
export interface Approver {
  readonly key_id: string;
  readonly principal: string;
}

/** A run of the loop. */
export interface ApprovalRun {
  readonly workflow_id: string;
  readonly run_id: string;
}

/** A new request to people about one exact action. */
export interface NewApproval {
  /** `APR-` and 12 hex characters. */
  readonly id: string;
  /** A ticket id, or the key that asks. */
  readonly subject: string;
  readonly ticketId: string | null;
  readonly description: string;
  readonly action: Readonly<Record<string, unknown>>;
  /** SHA-256 of the action's canonical JSON, hex. */
  readonly actionSha256: string;
  /** SHA-256 of the salt and then that JSON, hex: how receipts name the action. */
  readonly actionCommitment: string;
  /** 32 random bytes. */
  readonly actionSalt: Buffer;
  /** SHA-256 of the action without its target, hex: those that have the same ask for the same. */
  readonly actionGroup: string;
  readonly grounds: ApprovalGrounds;
  /** Principal. */
  readonly requestedBy: string;
  /** Null: the platform itself. */
  readonly requestedByKey: string | null;
  /** Number of people who must approve, 1 to 10. */
  readonly needed: number;
  readonly expiresInSeconds: number;
  readonly escalateAfterSeconds: number;
  /** The run that waits for it, with its finding; null: no loop asks. */
  readonly askingRun: Readonly<Record<string, unknown>> | null;
  /** Approval that its asker denied, and offers this instead of; absent or null: of none. */
  readonly insteadOf?: string | null;
}

/** An approval as it stands now. */
export interface ApprovalRecord extends NewApproval {
  readonly tenant: string;
  readonly status: ApprovalStatus;
  readonly approvers: readonly Approver[];
  readonly escalated: boolean;
  /** Number of moves so far; 0: its workflow has not begun yet. */
  readonly moves: number;
  readonly askedAt: string;
  readonly expiresAt: string;
  readonly decidedAt: string | null;
  readonly resumedRun: ApprovalRun | null;
  /** Database role of the process that stored it. */
  readonly storedBy: string;
}

/**
 * Stores a request, which needs two people at least while the flag `require_two_approvers` is set. Does nothing where the
 * id is there already.
 */
export async function putApproval(db: Db, approval: NewApproval): Promise<void> {
  await db.execute(
    `INSERT INTO approvals (id, subject, ticket_id, description, action, action_sha256, action_commitment, action_salt,
       action_group, grounds, requested_by, requested_by_key, needed, expires_in_seconds, escalate_after_seconds,
       asking_run, instead_of)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
       greatest($13, (SELECT 2 FROM flags WHERE key = 'require_two_approvers' AND value)), $14, $15, $16, $17)
     ON CONFLICT (tenant_id, id) DO NOTHING`,
    [
      approval.id,
      approval.subject,
      approval.ticketId,
      approval.description,
      JSON.stringify(approval.action),
      approval.actionSha256,
      approval.actionCommitment,
      approval.actionSalt,
      approval.actionGroup,
      JSON.stringify(approval.grounds),
      approval.requestedBy,
      approval.requestedByKey,
      approval.needed,
      approval.expiresInSeconds,
      approval.escalateAfterSeconds,
      approval.askingRun && JSON.stringify(approval.askingRun),
      approval.insteadOf ?? null,
    ],
  );
}

/** Deletes a request whose workflow never began. */
export async function dropApproval(db: Db, id: string): Promise<void> {
  await db.execute("DELETE FROM approvals WHERE id = $1 AND moves = 0", [id]);
}

/** Notes the run that an approval started because the run that asked had ended. */
export async function setResumedRun(db: Db, id: string, run: ApprovalRun): Promise<void> {
  await db.execute(
    "UPDATE approvals SET resumed_run = $2 WHERE id = $1",
    [id, JSON.stringify(run)],
  );
}

/** Returns an approval, or undefined. */
export async function getApproval(db: Db, id: string): Promise<ApprovalRecord | undefined> {
  const row = await db.first(
    "SELECT * FROM approvals WHERE id = $1",
    [id],
  );
  return row && fromRow(row);
}

/** First half of the advisory locks of approvals. The gateway, which stores votes, may not lock their rows. */
const LOCK = 736_562;

/** Waits until nobody makes a move of an approval or votes on it, and keeps others from it until the transaction ends. */
export async function waitForMoves(trx: Db, id: string): Promise<void> {
  await trx.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK, id]);
}

/** Returns an approval, locked until the transaction ends, so that moves are made one after the other. */
export async function lockApproval(trx: Db, id: string): Promise<ApprovalRecord | undefined> {
  await waitForMoves(trx, id);
  const row = await trx.first(
    "SELECT * FROM approvals WHERE id = $1 FOR UPDATE",
    [id],
  );
  return row && fromRow(row);
}

/** Returns the tenant that owns an approval, or undefined. */
export async function findApprovalOwner(db: Db, id: string): Promise<string | undefined> {
  const row = await db.first<{ tenant: string }>("SELECT approval_owner($1) AS tenant", [id]);
  return row?.tenant ?? undefined;
}

/** Returns the id of the newest approval that is offered instead of another one, and whether it may still be approved. */
export async function findOffered(
  db: Db,
  id: string,
): Promise<{ readonly id: string; readonly open: boolean } | undefined> {
  return await db.first<{ id: string; open: boolean }>(
    `SELECT id, status IN ('pending', 'approved') AS open FROM approvals WHERE instead_of = $1 ORDER BY asked_at DESC LIMIT 1`,
    [id],
  );
}

/** Lists approvals, newest first. */
export async function listApprovals(
  db: Db,
  { status, limit }: { status?: ApprovalStatus; limit: number },
): Promise<ApprovalRecord[]> {
  const rows = await db.query(
    `SELECT * FROM approvals WHERE $1::text IS NULL OR status = $1 ORDER BY asked_at DESC, id LIMIT $2`,
    [status, limit],
  );
  return rows.map(fromRow);
}

/** Approvals that wait for the same, of one target or another. */
export interface ApprovalGroup {
  /** How many wait. */
  readonly size: number;
  /** The one that waits longest. */
  readonly first: ApprovalRecord;
}

/** Lists the groups of pending approvals, the longest wait first. */
export async function listApprovalGroups(db: Db, limit: number): Promise<ApprovalGroup[]> {
  const rows = await db.query(
    `SELECT * FROM (
       SELECT DISTINCT ON (action_group) *, count(*) OVER (PARTITION BY action_group)::int AS size
       FROM approvals WHERE status = 'pending' ORDER BY action_group, asked_at, id
     ) AS first_of_group ORDER BY asked_at, id LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({ size: row.size, first: fromRow(row) }));
}

/** Lists the pending approvals of a group, the longest wait first. */
export async function listApprovalsOfGroup(
  db: Db,
  group: string,
  limit: number,
): Promise<ApprovalRecord[]> {
  const rows = await db.query(
    `SELECT * FROM approvals WHERE action_group = $1 AND status = 'pending' ORDER BY asked_at, id LIMIT $2`,
    [group, limit],
  );
  return rows.map(fromRow);
}

function fromRow(row: Row): ApprovalRecord {
  return {
    tenant: row.tenant_id,
    id: row.id,
    subject: row.subject,
    ticketId: row.ticket_id,
    description: row.description,
    action: row.action,
    actionSha256: row.action_sha256,
    actionCommitment: row.action_commitment,
    actionSalt: row.action_salt,
    actionGroup: row.action_group,
    grounds: row.grounds,
    requestedBy: row.requested_by,
    requestedByKey: row.requested_by_key,
    needed: row.needed,
    expiresInSeconds: row.expires_in_seconds,
    escalateAfterSeconds: row.escalate_after_seconds,
    askingRun: row.asking_run,
    insteadOf: row.instead_of,
    status: row.status,
    approvers: row.approvers,
    escalated: row.escalated,
    moves: row.moves,
    askedAt: row.asked_at.toISOString(),
    expiresAt: (row.expires_at ?? addSeconds(row.asked_at, row.expires_in_seconds)).toISOString(),
    decidedAt: row.decided_at?.toISOString() ?? null,
    resumedRun: row.resumed_run,
    storedBy: row.stored_by,
  };
}

/** Returns the expiry of an approval whose workflow has not begun: as it will be. */
function addSeconds(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1_000);
}
