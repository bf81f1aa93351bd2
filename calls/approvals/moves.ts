import { Problem } from "../../contract/mod.ts";
import {
  type ApprovalState,
  type ErrorName,
  LOOP_ACTOR,
  type RunId,
} from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  acceptVote,
  addApprovalMove,
  type ApprovalMove,
  type ApprovalRecord,
  getApproval,
  getMoveReceipt,
  getVote,
  lockApproval,
  refuseVote,
  type VoteMove,
  type VoteRecord,
} from "../../store/approvals/mod.ts";
import { findValidKeys } from "../../store/keys/mod.ts";
import type { Platform } from "../platform.ts";
import type { SubjectVote } from "../approval_subject.ts";
import { receiptIdOf } from "../receipt_ids.ts";
import { webUiNotice } from "./notice.ts";
import { countedApprovers, voteRefusal } from "./rights.ts";
import { publicVoters, voteEvidence } from "./_vote_record.ts";
import { statementRefusal } from "./statement.ts";
import { subjectRefusal } from "./subject.ts";
import { tellPeople, tellTicket } from "./tell.ts";

/** A move of an approval after the first. A person's vote is in the database; the order names it, and proves nothing. */
export interface MoveOrder {
  readonly approval_id: string;
  readonly run: RunId;
  readonly move: "approved" | "denied" | "reopened" | "expired" | "outdated" | "escalated";
  /** Absent: time makes the move. */
  readonly vote_id?: string;
  /** Number of times that its run was reopened before. */
  readonly cycle: number;
  /** End of its workflow, where that was from outside: TERMINATED, … */
  readonly ended?: string;
}

/** State of an approval after a move. */
export type MoveResult = Omit<ApprovalState, "cycle" | "receipt_id"> & {
  /** Receipt of this move. */
  readonly receipt_id: string;
  /** Lines that Temporal's Web UI shows while it is pending, in Markdown. */
  readonly notice: string;
  /** Why the vote does not count, where the approval has ended for the same reason. */
  readonly refused?: { readonly name: ErrorName; readonly message: string };
};

/**
 * Makes a move, if it may be made, and requests its receipt. Who votes, and whether the vote counts, is what the database
 * says of the vote and of its key, whatever the order says; so is how many are needed. Safe to repeat: a vote counts
 * once, and so does each deadline of a run.
 *
 * @param changed what has changed of what people were asked about, a sentence without its end. Then a vote for it does not
 * count, and the approval is outdated; undefined: nothing has
 * @throws {Problem} `Forbidden`, `Conflict`: nobody has voted so, or they may not; then nothing has changed
 */
export async function moveApproval(
  parts: Pick<Platform, "store" | "subjects">,
  order: MoveOrder,
  changed?: string,
): Promise<MoveResult> {
  // A refusal is returned, not thrown, so that the transaction that notes it commits.
  const result = await parts.store.db.transaction(async (trx) => {
    const approval = await lockApproval(trx, order.approval_id);
    if (!approval) return new Problem("NotFound", `There is no approval ${order.approval_id}`);
    const { move } = order;
    if (move === "expired" || move === "escalated") {
      return await moveByTime(trx, approval, { ...order, move });
    }
    return move === "outdated"
      ? await endOutdated(trx, approval, order, changed)
      : await moveByVote(parts, trx, approval, { ...order, move }, changed);
  });
  if (result instanceof Problem) throw result;
  return result;
}

async function moveByVote(
  parts: Pick<Platform, "subjects">,
  trx: Db,
  approval: ApprovalRecord,
  order: MoveOrder & { readonly move: VoteMove },
  changed: string | undefined,
): Promise<MoveResult | Problem> {
  const { run, move, vote_id } = order;
  const vote = vote_id === undefined ? undefined : await getVote(trx, vote_id);
  if (!vote || vote.approvalId !== approval.id || vote.move !== move) {
    return await sealForgedVote(trx, approval, move);
  }
  const receiptId = receiptIdOf({ workflow_id: `approval-${approval.id}`, run_id: vote.id }, move);
  const offered = vote.offer !== null;
  if (vote.number !== null) return moveResult(approval, receiptId, offered);
  const { counted, notCounted } = await countedApprovers(trx, approval);
  const [key] = await findValidKeys(trx, [vote.keyId]);
  const refusal = vote.refused
    ? new Problem(vote.refused.name, vote.refused.message)
    : voteRefusal(approval, move, key, counted) ??
      await statementRefusal(trx, approval, vote, key!) ??
      await subjectRefusal(parts, trx, approval, { ...vote, passkey: passkeyOf(vote) });
  if (refusal) {
    await refuseVote(trx, vote.id, refusal);
    if (approval.status !== "outdated") return refusal;
    const { name, message } = refusal; // an earlier attempt has ended it
    return { ...await endOutdated(trx, approval, order, changed), refused: { name, message } };
  }
  if (move === "approved" && changed !== undefined) {
    const problem = outdatedProblem(approval.id, changed);
    await refuseVote(trx, vote.id, problem);
    const { name, message } = problem;
    return { ...await endOutdated(trx, approval, order, changed), refused: { name, message } };
  }
  const by = { key_id: key!.id, principal: key!.principal };
  const approvers = { approved: [...counted, by], denied: counted, reopened: [] }[move];
  const isApproved = move === "approved" && approvers.length >= approval.needed;
  const number = approval.moves + 1;
  await acceptVote(trx, vote.id, number);
  return await recordMove(trx, approval, run, {
    number,
    move,
    status: isApproved ? "approved" : move === "denied" ? "denied" : "pending",
    approvers,
    by,
    receiptId,
    notCounted: move === "approved" ? notCounted : [],
    reason: vote.reason,
    statement: vote.statement,
    offer: vote.offer,
  });
}

function passkeyOf({ statement }: VoteRecord): SubjectVote["passkey"] {
  if (!statement) return null;
  return { credentialId: statement.assertion.credential_id, origin: statement.origin };
}

async function moveByTime(
  trx: Db,
  approval: ApprovalRecord,
  { run, move, cycle, ended }: MoveOrder & { readonly move: "expired" | "escalated" },
): Promise<MoveResult> {
  const receiptId = receiptIdOf(run, `approval-${move}-${cycle}`);
  const isOver = approval.status !== "pending" || move === "escalated" && approval.escalated;
  if (isOver) { // people were quicker, or this is a repetition
    return moveResult(
      approval,
      await getMoveReceipt(trx, approval.id, approval.moves) ?? receiptId,
    );
  }
  return await recordMove(trx, approval, run, {
    number: approval.moves + 1,
    move,
    status: move === "expired" ? "expired" : approval.status,
    approvers: approval.approvers,
    receiptId,
  }, ended);
}

/** Ends an approval whose action is another one by now. One that has ended, or whose action is the same, stays. */
async function endOutdated(
  trx: Db,
  approval: ApprovalRecord,
  { run, cycle }: MoveOrder,
  changed: string | undefined,
): Promise<MoveResult> {
  const receiptId = receiptIdOf(run, `approval-outdated-${cycle}`);
  if (approval.status !== "pending" || changed === undefined) {
    const last = await getMoveReceipt(trx, approval.id, approval.moves);
    return moveResult(approval, last ?? receiptId);
  }
  return await recordMove(trx, approval, run, {
    number: approval.moves + 1,
    move: "outdated",
    status: "outdated",
    approvers: approval.approvers,
    reason: changed,
    receiptId,
  });
}

/** Returns the refusal of a vote about what has changed. */
function outdatedProblem(id: string, changed: string): Problem {
  return new Problem(
    "Conflict",
    `This vote does not count, and ${id} has ended: ${changed}. The loop looks again by itself`,
  );
}

async function recordMove(
  trx: Db,
  approval: ApprovalRecord,
  run: RunId,
  approvalMove: ApprovalMove,
  ended?: string,
): Promise<MoveResult> {
  const { id: approval_id, ticketId, action, actionCommitment, needed, grounds } = approval;
  const { number, move, status, receiptId, reason } = approvalMove;
  await addApprovalMove(trx, approval_id, approvalMove);
  if (ticketId) await tellTicket(trx, ticketId, approval_id, approvalMove);
  const { actor, ...voters } = await publicVoters(trx, approval, approvalMove);
  await requestSeal(trx, {
    id: receiptId,
    category: "approval",
    actor: actor ?? LOOP_ACTOR,
    subject: approval_id,
    action: `approval.${move}`,
    outcome: status,
    details: {
      approval_id,
      action_commitment: actionCommitment,
      number,
      ...voters,
      needed,
      ...(grounds.passkey ? { passkey: true } : {}),
      ...(ended ? { ended } : {}),
      ...(ticketId ? { ticket_id: ticketId } : {}),
      ...run,
    },
    evidence: {
      action,
      ...(reason ? { reason } : {}),
      ...(approvalMove.offer ? { offer: approvalMove.offer } : {}),
      ...voteEvidence(approval, approvalMove),
    },
  });
  const moved = (await getApproval(trx, approval_id))!;
  await tellPeople(trx, moved, approvalMove);
  return moveResult(moved, receiptId, Boolean(approvalMove.offer));
}

/** Seals, once between two moves, that somebody who is not the gateway has reached Temporal with a vote. */
async function sealForgedVote(
  trx: Db,
  { id, actionCommitment, moves }: ApprovalRecord,
  move: VoteMove,
): Promise<Problem> {
  await requestSeal(trx, {
    id: receiptIdOf({ workflow_id: `approval-${id}`, run_id: "unsaid" }, String(moves)),
    category: "approval",
    actor: LOOP_ACTOR,
    subject: id,
    action: "approval.refused",
    outcome: "refused",
    details: {
      approval_id: id,
      action_commitment: actionCommitment,
      after: moves,
      code: "nobody_said_so",
    },
  });
  return new Problem(
    "Forbidden",
    `Nobody has ${move} ${id} through the gateway, and a vote that comes another way does not count`,
  );
}

function moveResult(approval: ApprovalRecord, receipt_id: string, offered = false): MoveResult {
  const { status, approvers, escalated, moves } = approval;
  const keys = approvers.map(({ key_id }) => `key:${key_id}`);
  const notice = webUiNotice(approval);
  return { status, approvers: keys, escalated, moves, receipt_id, notice, offered };
}
