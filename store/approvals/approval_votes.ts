import { randomBytes } from "node:crypto";
import type { Problem } from "../../contract/mod.ts";
import type { ErrorName, RepairOffer, SignedStatement } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";
import { waitForMoves } from "./approvals.ts";

/** The move that a person votes for. */
export type VoteMove = "approved" | "denied" | "reopened";

/** A signature by an approver's own key. */
export interface ApproverSignature {
  /** Ed25519 public key, 64 hex. */
  readonly key: string;
  /** 128 hex. */
  readonly signature: string;
}

/** A person's vote on an approval, as the gateway took it from a valid key. */
export interface VoteRecord {
  /** `VOT-` and 12 hex characters. */
  readonly id: string;
  readonly approvalId: string;
  readonly move: VoteMove;
  readonly keyId: string;
  /** Reason that the person gave; null: none. */
  readonly reason: string | null;
  /** Signature by a key of the voter's own; null: none. */
  readonly signature: ApproverSignature | null;
  /** Statement that the voter's passkey has signed; null: a key voted. */
  readonly statement: SignedStatement | null;
  /** Repair that the voter offers instead; null: none. */
  readonly offer: RepairOffer | null;
  /** Number of the move that it became; null: none yet. */
  readonly number: number | null;
  /** Why it became no move. */
  readonly refused: { readonly name: ErrorName; readonly message: string } | null;
}

/**
 * Stores a vote. A key's same vote again joins the one that waits; another vote of the key replaces it.
 *
 * @param trx waits for a move on the same approval, or another vote
 * @returns the vote's id
 */
export async function putVote(
  trx: Db,
  { approvalId, move, keyId, reason = null, signature = null, statement = null, offer = null }:
    & Pick<VoteRecord, "approvalId" | "move" | "keyId">
    & Partial<Pick<VoteRecord, "reason" | "signature" | "statement" | "offer">>,
): Promise<string> {
  await waitForMoves(trx, approvalId);
  const replaced = { name: "Conflict", message: "Its holder has said something else" };
  await trx.execute(
    `UPDATE approval_votes SET refused = $4
     WHERE approval_id = $1 AND key_id = $2 AND move <> $3 AND number IS NULL AND refused IS NULL`,
    [approvalId, keyId, move, JSON.stringify(replaced)],
  );
  const vote = await trx.first<{ id: string }>(
    `INSERT INTO approval_votes (id, approval_id, move, key_id, reason, signature, statement, offer)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (tenant_id, approval_id, key_id) WHERE number IS NULL AND refused IS NULL
     DO UPDATE SET move = excluded.move, reason = excluded.reason, signature = excluded.signature,
       statement = excluded.statement, offer = excluded.offer RETURNING id`,
    [
      `VOT-${randomBytes(6).toString("hex")}`,
      approvalId,
      move,
      keyId,
      reason,
      signature && JSON.stringify(signature),
      statement && JSON.stringify(statement),
      offer && JSON.stringify(offer),
    ],
  );
  return vote!.id;
}

/** Returns a vote, or undefined. */
export async function getVote(db: Db, id: string): Promise<VoteRecord | undefined> {
  return await db.first<VoteRecord>(
    `SELECT id, approval_id AS "approvalId", move, key_id AS "keyId", reason, signature, statement, offer, number, refused
     FROM approval_votes WHERE id = $1`,
    [id],
  );
}

/** Notes the move that a vote became. */
export async function acceptVote(trx: Db, id: string, number: number): Promise<void> {
  await trx.execute("UPDATE approval_votes SET number = $2 WHERE id = $1", [id, number]);
}

/** Notes why a vote became no move, unless its outcome is known already. */
export async function refuseVote(db: Db, id: string, { name, message }: Problem): Promise<void> {
  await db.execute(
    "UPDATE approval_votes SET refused = $2 WHERE id = $1 AND number IS NULL AND refused IS NULL",
    [id, JSON.stringify({ name, message })],
  );
}

/** Lists the votes that have waited this long to become a move, oldest first. */
export async function listWaitingVotes(db: Db, seconds: number): Promise<VoteRecord[]> {
  return await db.query<VoteRecord>(
    `SELECT id, approval_id AS "approvalId", move, key_id AS "keyId", reason, signature, statement, offer, number, refused
     FROM approval_votes
     WHERE number IS NULL AND refused IS NULL AND voted_at < now() - make_interval(secs => $1)
     ORDER BY voted_at`,
    [seconds],
  );
}

/** Lists the signatures of those who have approved. */
export async function listSignatures(db: Db, approvalId: string): Promise<ApproverSignature[]> {
  const rows = await db.query<{ signature: ApproverSignature }>(
    `SELECT signature FROM approval_votes
     WHERE approval_id = $1 AND move = 'approved' AND number IS NOT NULL AND signature IS NOT NULL ORDER BY number`,
    [approvalId],
  );
  return rows.map(({ signature }) => signature);
}

/** Lists what the passkeys of those who have approved have signed. */
export async function listStatements(db: Db, approvalId: string): Promise<SignedStatement[]> {
  const rows = await db.query<{ statement: SignedStatement }>(
    `SELECT statement FROM approval_votes
     WHERE approval_id = $1 AND move = 'approved' AND number IS NOT NULL AND statement IS NOT NULL ORDER BY number`,
    [approvalId],
  );
  return rows.map(({ statement }) => statement);
}

/** A repair that a person offers instead of one that they have denied. */
export interface StoredOffer extends RepairOffer {
  /** The denied approval. */
  readonly approvalId: string;
  /** Key of who offers it. */
  readonly keyId: string;
}

/** Returns the repair that is offered instead of what a denied approval asked for; undefined: none. */
export async function getOffer(db: Db, approvalId: string): Promise<StoredOffer | undefined> {
  const row = await db.first(
    `SELECT approval_id, key_id, offer FROM approval_votes
     WHERE approval_id = $1 AND move = 'denied' AND number IS NOT NULL AND offer IS NOT NULL ORDER BY number DESC LIMIT 1`,
    [approvalId],
  );
  return row && { approvalId: row.approval_id, keyId: row.key_id, ...row.offer };
}

/** Returns the repair that is offered for a ticket, and that people were not asked about yet, or in another form; undefined: none. */
export async function findOpenOffer(db: Db, ticketId: string): Promise<StoredOffer | undefined> {
  const row = await db.first(
    `SELECT v.approval_id FROM approvals a JOIN approval_votes v ON (v.tenant_id, v.approval_id) = (a.tenant_id, a.id)
     WHERE a.ticket_id = $1 AND a.status = 'denied' AND v.move = 'denied' AND v.number IS NOT NULL AND v.offer IS NOT NULL
       AND NOT EXISTS (
         SELECT FROM approvals o WHERE o.tenant_id = a.tenant_id AND o.instead_of = a.id AND o.status <> 'outdated'
       )
     ORDER BY v.voted_at DESC LIMIT 1`,
    [ticketId],
  );
  return row && await getOffer(db, row.approval_id);
}
