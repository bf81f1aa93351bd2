import { randomBytes } from "node:crypto";
import { isSamePrincipal, Problem } from "../contract/mod.ts";
import type { ErrorName } from "../domain/mod.ts";
import { type ApprovalRecord, type Approver, lockApproval } from "./approvals.ts";
import type { Queryable } from "./connection.ts";
import { type KeyRecord, findValidKeys } from "./keys.ts";

/** What a person can say about an approval, as the move that it becomes. */
export type VoteMove = "approved" | "denied" | "reopened";

/** What a person said, as the gateway heard it from a valid key. */
export interface VoteRecord {
  /** `VOC-` and 12 hex characters. */
  readonly id: string;
  readonly approvalId: string;
  readonly move: VoteMove;
  readonly keyId: string;
  /** Of the move that it became; null: of none yet. */
  readonly number: number | null;
  /** Why it became none. */
  readonly refused: { readonly name: ErrorName; readonly message: string } | null;
}

/**
 * Keeps what somebody says. The same said again, before it has become a move, is the same; another word of the same key
 * takes the place of the one that waits.
 *
 * @param on a transaction: it is taken in after the move that is being made, or what else is being said
 * @returns the voice's id
 */
export async function putVote(
  on: Queryable,
  { approvalId, move, keyId }: Pick<VoteRecord, "approvalId" | "move" | "keyId">,
): Promise<string> {
  await lockApproval(on, approvalId);
  await on("approval_voices").where({ approval_id: approvalId, key_id: keyId })
    .whereNull("number").whereNull("refused").whereNot({ move }).update({
      refused: JSON.stringify({ name: "Conflict", message: "Its holder has said something else" }),
    });
  const id = `VOC-${randomBytes(6).toString("hex")}`;
  const { rows } = await on.raw(
    `INSERT INTO approval_voices (id, approval_id, move, key_id) VALUES (?, ?, ?, ?)
     ON CONFLICT (approval_id, key_id) WHERE number IS NULL AND refused IS NULL
     DO UPDATE SET move = approval_voices.move RETURNING id`,
    [id, approvalId, move, keyId],
  );
  return rows[0].id;
}

/** A voice by id, or undefined. */
export async function getVote(on: Queryable, id: string): Promise<VoteRecord | undefined> {
  const row = await on("approval_voices").where({ id }).first();
  return row && fromRow(row);
}

/** Notes the move that a voice became. */
export async function acceptVote(on: Queryable, id: string, number: number): Promise<void> {
  await on("approval_voices").where({ id }).update({ number });
}

/** Notes why a voice became no move. What is known of it already stays. */
export async function refuseVote(
  on: Queryable,
  id: string,
  { name, message }: Problem,
): Promise<void> {
  await on("approval_voices").where({ id }).whereNull("number").whereNull("refused")
    .update({ refused: JSON.stringify({ name, message }) });
}

/** Voices that have waited for so many seconds to become a move, oldest first. */
export async function listWaitingVotes(on: Queryable, seconds: number): Promise<VoteRecord[]> {
  const rows = await on("approval_voices").whereNull("number").whereNull("refused")
    .whereRaw("said_at < now() - make_interval(secs => ?)", [seconds]).orderBy("said_at");
  return rows.map(fromRow);
}

/** Approvals that count now: their keys are valid, and may approve. */
export async function countApprovers(
  on: Queryable,
  { approvers }: Pick<ApprovalRecord, "approvers">,
): Promise<{ counted: Approver[]; notCounted: string[] }> {
  const keys = await findValidKeys(on, approvers.map(({ key_id }) => key_id));
  const may = new Set(keys.filter(({ mayApprove }) => mayApprove).map(({ id }) => id));
  return {
    counted: approvers.filter(({ key_id }) => may.has(key_id)),
    notCounted: approvers.map(({ key_id }) => key_id).filter((id) => !may.has(id)),
  };
}

/** Why a key's word about an approval can't become a move; undefined: it can. @param key undefined: it is not valid any more */
export function voteRefusal(
  { id, status, requestedBy, requestedByKey, requestedByTenant }: ApprovalRecord,
  move: VoteMove,
  key: KeyRecord | undefined,
  counted: readonly Approver[],
): Problem | undefined {
  const [which, what] = move === "reopened"
    ? ["one that was denied or has expired", "reopened"]
    : ["a pending one", "decided"];
  // One that is pending is reopened where its run was ended from outside, and else refused by its run.
  if (move === "reopened" ? status === "approved" : status !== "pending") {
    return new Problem("Conflict", `Approval ${id} is ${status}, and only ${which} can be ${what}`);
  }
  if (!key) return new Problem("Forbidden", "This key was revoked or has expired");
  if (!key.mayApprove) {
    return new Problem(
      "Forbidden",
      `This key may not decide about ${id}; that takes one issued with may_approve`,
    );
  }
  const ofTenant = requestedByTenant === null || requestedByTenant === key.tenant;
  if (!ofTenant && key.tier !== "admin") {
    return new Problem(
      "Forbidden",
      `Another tenant asks about ${id}; it takes a key of that tenant that was issued with may_approve, or one of ` +
        `tier admin`,
    );
  }
  if (isSamePrincipal(key.principal, requestedBy) || key.id === requestedByKey) {
    return new Problem(
      "Forbidden",
      `Approval ${id} was asked for by the holder of this key, and somebody else has to decide about it`,
    );
  }
  return counted.some(({ principal }) => isSamePrincipal(principal, key.principal))
    ? new Problem(
      "Conflict",
      `The holder of this key has approved ${id} already; it takes others too`,
    )
    : undefined;
}

// deno-lint-ignore no-explicit-any -- a row as the driver gives it
function fromRow(row: any): VoteRecord {
  return {
    ...{ id: row.id, approvalId: row.approval_id, move: row.move, keyId: row.key_id },
    ...{ number: row.number, refused: row.refused },
  };
}
