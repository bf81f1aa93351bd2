import { Problem } from "../contract/mod.ts";
import type { ApprovalState, RunId } from "../domain/mod.ts";
import {
  addApprovalMove,
  type ApprovalMove,
  type ApprovalRecord,
  countApprovers,
  getApproval,
  getVote,
  lockApproval,
  type Db,
  getMoveReceipt,
  voteRefusal,
  refuseVote,
  acceptVote,
  findValidKeys,
  type VoteMove,
} from "../store/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { type ActivityParts, ACTOR, receiptIdOf } from "./_parts.ts";
import { tellTicket } from "./approvals.ts";

/** A move of an approval after the first. What a person said is in the database; this names it, and proves nothing. */
export interface ApprovalMoveOrder {
  readonly approval_id: string;
  readonly run: RunId;
  readonly move: "approved" | "denied" | "reopened" | "expired" | "escalated";
  /** What somebody said; absent: time did it. */
  readonly voice_id?: string;
  /** How often its run was reopened before. */
  readonly cycle: number;
  /** How its workflow ended, where that was from outside: TERMINATED, … */
  readonly ended?: string;
}

/** How an approval stands after a move. */
export type ApprovalMoved = Omit<ApprovalState, "cycle" | "receipt_id"> & {
  /** Of this move. */
  readonly receipt_id: string;
};

/** What moves approvals: people's words, and time. */
export function approvalMoves({ store, calls, deliverVoices }: ActivityParts) {
  /**
   * Makes a move, if it may be made, and asks for its receipt. Who decides, and whether that counts, is what the database
   * says of the voice and of its key, whatever the order says; so is how many it takes. Safe to repeat: a voice is taken
   * once, and so is each moment of a run.
   *
   * @throws {Problem} `Forbidden`, `Conflict`: nobody has said so, or they may not; then nothing has changed
   */
  async function moveApproval(order: ApprovalMoveOrder): Promise<ApprovalMoved> {
    const moved = await store.asPlatform().transaction(async (trx) => {
      const known = await lockApproval(trx, order.approval_id);
      if (!known) return new Problem("NotFound", `There is no approval ${order.approval_id}`);
      const { move } = order;
      return move === "expired" || move === "escalated"
        ? await passTime(trx, known, { ...order, move })
        : await hear(trx, known, { ...order, move });
    });
    if (moved instanceof Problem) throw moved;
    if (moved.status !== "pending") await calls?.tell(order.approval_id);
    return moved;
  }

  async function hear(
    trx: Db,
    known: ApprovalRecord,
    order: ApprovalMoveOrder & { readonly move: VoteMove },
  ): Promise<ApprovalMoved | Problem> {
    const { run, move, voice_id } = order;
    const voice = voice_id === undefined ? undefined : await getVote(trx, voice_id);
    if (!voice || voice.approvalId !== known.id || voice.move !== move) {
      return await sealUnsaid(trx, known, move);
    }
    const receiptId = receiptIdOf({ workflow_id: `approval-${known.id}`, run_id: voice.id }, move);
    if (voice.number !== null) return movedTo(known, receiptId);
    const { counted, notCounted } = await countApprovers(trx, known);
    const [key] = await findValidKeys(trx, [voice.keyId]);
    const refusal = voice.refused
      ? new Problem(voice.refused.name, voice.refused.message)
      : voteRefusal(known, move, key, counted);
    if (refusal) {
      await refuseVote(trx, voice.id, refusal);
      return refusal;
    }
    const by = { key_id: key!.id, principal: key!.principal };
    const approvers = move === "approved" ? [...counted, by] : move === "denied" ? counted : [];
    const status = move === "approved"
      ? approvers.length >= known.needed ? "approved" : "pending"
      : move === "denied"
      ? "denied"
      : "pending";
    const number = known.moves + 1;
    await acceptVote(trx, voice.id, number);
    const dropped = move === "approved" ? notCounted : [];
    return await write(trx, known, run, {
      ...{ number, move, status, approvers, by, receiptId, notCounted: dropped },
    });
  }

  async function passTime(
    trx: Db,
    known: ApprovalRecord,
    { run, move, cycle, ended }: ApprovalMoveOrder & { readonly move: "expired" | "escalated" },
  ): Promise<ApprovalMoved> {
    const receiptId = receiptIdOf(run, `approval-${move}-${cycle}`);
    const isOver = known.status !== "pending" || move === "escalated" && known.escalated;
    if (isOver) { // people were quicker, or it is told already
      return movedTo(known, await getMoveReceipt(trx, known.id, known.moves) ?? receiptId);
    }
    const status = move === "expired" ? move : known.status;
    const { approvers } = known;
    const written = { number: known.moves + 1, move, status, approvers, receiptId };
    return await write(trx, known, run, written, ended);
  }

  async function write(
    trx: Db,
    known: ApprovalRecord,
    run: RunId,
    written: ApprovalMove,
    ended?: string,
  ): Promise<ApprovalMoved> {
    const { id: approval_id, ticketId, action, actionSha256: action_sha256, needed } = known;
    const { number, move, status, approvers, by, notCounted = [], receiptId } = written;
    await addApprovalMove(trx, approval_id, written);
    if (ticketId) await tellTicket(trx, ticketId, approval_id, number, move, receiptId);
    await requestSeal(trx, {
      id: receiptId,
      category: "approval",
      actor: by ? `key:${by.key_id}` : ACTOR,
      subject: approval_id,
      action: `approval.${move}`,
      outcome: status,
      details: {
        approval_id,
        action_sha256,
        number,
        approvers: approvers.map(({ key_id }) => `key:${key_id}`),
        ...(notCounted.length > 0 ? { not_counted: notCounted.map((id) => `key:${id}`) } : {}),
        needed,
        ...(ended ? { ended } : {}),
        ...(ticketId ? { ticket_id: ticketId } : {}),
        ...run,
      },
      evidence: { action, ...(by ? { principal: by.principal } : {}) },
    });
    return movedTo((await getApproval(trx, approval_id))!, receiptId);
  }

  /** Somebody has reached Temporal who is not the gateway. That it was tried is sealed, once between two moves. */
  async function sealUnsaid(
    trx: Db,
    { id, actionSha256, moves }: ApprovalRecord,
    move: VoteMove,
  ): Promise<Problem> {
    await requestSeal(trx, {
      id: receiptIdOf({ workflow_id: `approval-${id}`, run_id: "unsaid" }, String(moves)),
      category: "approval",
      actor: ACTOR,
      subject: id,
      action: "approval.refused",
      outcome: "refused",
      details: {
        ...{ approval_id: id, action_sha256: actionSha256, after: moves },
        code: "nobody_said_so",
      },
    });
    return new Problem(
      "Forbidden",
      `Nobody has ${move} ${id} by the gateway, and a word that comes another way counts for nothing`,
    );
  }

  /** Tells runs what people said to a gateway that died before it could. Safe to repeat: a voice is taken once. */
  async function tellVoices(): Promise<number> {
    return await deliverVoices?.() ?? 0;
  }

  return { moveApproval, tellVoices };
}

function movedTo(
  { status, approvers, escalated, moves }: ApprovalRecord,
  receipt_id: string,
): ApprovalMoved {
  const keys = approvers.map(({ key_id }) => `key:${key_id}`);
  return { status, approvers: keys, escalated, moves, receipt_id };
}
