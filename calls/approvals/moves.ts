import { Problem } from "../../contract/mod.ts";
import {
  type ApprovalRequest,
  type ApprovalState,
  type ApprovalTerms,
  LOOP_ACTOR,
  type RunId,
} from "../../domain/mod.ts";
import { canonicalize, requestSeal } from "../../ledger/mod.ts";
import {
  acceptVote,
  addApprovalMove,
  addTicketEvent,
  type ApprovalMove,
  type ApprovalRecord,
  type Db,
  findValidKeys,
  getApproval,
  getMoveReceipt,
  getPrincipal,
  getVote,
  lockApproval,
  putApproval,
  queueApprovalDeliveries,
  refuseVote,
  tellNews,
  type VoteMove,
} from "../../store/mod.ts";
import type { Platform } from "../platform.ts";
import { receiptIdOf } from "../receipt_ids.ts";
import { notifyTasks } from "../tasks/mod.ts";
import { bindAction } from "./action.ts";
import { groundsOfRepair } from "./grounds.ts";
import { messageOf, webUiNotice } from "./notice.ts";
import { countedApprovers, voteRefusal } from "./rights.ts";

/** A request to people, with the run of its workflow. */
export interface ApprovalOpening extends ApprovalRequest {
  readonly run: RunId;
}

/** The first move of an approval. */
export interface OpenedApproval {
  readonly terms: ApprovalTerms;
  readonly requested_by: string;
  readonly receipt_id: string;
  /** What Temporal's Web UI shows of it, in Markdown. */
  readonly notice: string;
}

/** A move of an approval after the first. A person's vote is in the database; the order names it, and proves nothing. */
export interface MoveOrder {
  readonly approval_id: string;
  readonly run: RunId;
  readonly move: "approved" | "denied" | "reopened" | "expired" | "escalated";
  /** Absent: time makes the move. */
  readonly vote_id?: string;
  /** Number of times that its run was reopened before. */
  readonly cycle: number;
  /** How its workflow ended, where that was from outside: TERMINATED, … */
  readonly ended?: string;
}

/** State of an approval after a move. */
export type MoveResult = Omit<ApprovalState, "cycle" | "receipt_id"> & {
  /** Receipt of this move. */
  readonly receipt_id: string;
  /** What Temporal's Web UI shows while it is pending, in Markdown. */
  readonly notice: string;
};

type Parts = Pick<Platform, "store" | "temporal" | "config">;

/** Makes the first move: stores what is asked for, tells the ticket, requests the receipt. Safe to repeat. */
export async function recordOpening(
  { store, config }: Pick<Parts, "store" | "config">,
  opening: ApprovalOpening,
): Promise<OpenedApproval> {
  const { approval_id, ticket_id, action_sha256, run } = opening;
  const receipt_id = receiptIdOf(run, "approval-1");
  return await store.db.transaction(async (trx) => {
    await putApproval(trx, await newApproval(trx, opening, termsOf(config, opening)));
    const approval = (await getApproval(trx, approval_id))!;
    if (approval.actionSha256 !== action_sha256) {
      throw new Problem("Conflict", `Approval ${approval_id} is about another action`);
    }
    const terms = {
      needed: approval.needed,
      expires_in_seconds: approval.expiresInSeconds,
      escalate_after_seconds: approval.escalateAfterSeconds,
    };
    const notice = webUiNotice(approval);
    const opened = { terms, requested_by: approval.requestedBy, receipt_id, notice };
    const isNew = await addApprovalMove(trx, approval_id, {
      number: 1,
      move: "requested",
      status: "pending",
      approvers: [],
      receiptId: receipt_id,
    });
    if (!isNew) return opened;
    await tellPeople(trx, approval, { move: "requested" });
    if (ticket_id) await tellTicket(trx, ticket_id, approval_id, 1, "requested", receipt_id);
    await requestSeal(trx, {
      id: receipt_id,
      category: "approval",
      actor: approval.requestedByKey ? `key:${approval.requestedByKey}` : LOOP_ACTOR,
      subject: approval_id,
      action: "approval.requested",
      outcome: "pending",
      details: {
        approval_id,
        action_commitment: approval.actionCommitment,
        needed: terms.needed,
        expires_in_seconds: terms.expires_in_seconds,
        ...(ticket_id ? { ticket_id } : {}),
        ...run,
      },
      evidence: {
        action: approval.action,
        requested_by: approval.requestedBy,
        description: approval.description,
        grounds: approval.grounds,
      },
    });
    return opened;
  });
}

/** A request that comes from a workflow can't ask for fewer people than the settings want. */
function termsOf(
  { settings }: Platform["config"],
  { needed, expires_in_seconds, escalate_after_seconds }: Partial<ApprovalTerms>,
): ApprovalTerms {
  return {
    needed: Math.max(needed ?? 1, settings.SEALOOP_APPROVERS),
    expires_in_seconds: expires_in_seconds ?? settings.SEALOOP_APPROVAL_EXPIRES_SECONDS,
    escalate_after_seconds: escalate_after_seconds ?? settings.SEALOOP_APPROVAL_ESCALATE_SECONDS,
  };
}

async function newApproval(trx: Db, opening: ApprovalOpening, terms: ApprovalTerms) {
  const keyId = /^key:([0-9a-f]{16})$/.exec(opening.requested_by)?.[1];
  const holder = keyId && await getPrincipal(trx, keyId);
  const { approval_id: approvalId, ticket_id: ticketId = null, action = {} } = opening;
  return {
    id: approvalId,
    subject: opening.subject,
    ticketId,
    description: describe(opening.action),
    ...bindAction(action, canonicalize(action)),
    actionSha256: opening.action_sha256,
    grounds: await groundsOfRepair(trx, { approvalId, ticketId, action }),
    requestedBy: holder ?? opening.requested_by,
    requestedByKey: keyId ?? null,
    needed: terms.needed,
    expiresInSeconds: terms.expires_in_seconds,
    escalateAfterSeconds: terms.escalate_after_seconds,
    askingRun: opening.asking_run ? { ...opening.asking_run } : null,
  };
}

/** Describes a loop's action: the runbook and its steps. Programs describe theirs themselves. */
function describe({ runbook, version, service, steps }: ApprovalOpening["action"] = {}): string {
  if (typeof runbook !== "string") return "";
  const does = (Array.isArray(steps) ? steps : []).flatMap((step) => step?.does ?? []);
  return [`Runbook ${runbook} ${version} for ${service}`, does.join(" ")].filter(Boolean).join(
    ": ",
  );
}

/** Tells webhooks of a move, and the operator's terminal of one after which people are asked. */
async function tellPeople(
  trx: Db,
  approval: ApprovalRecord,
  move: Pick<ApprovalMove, "move" | "by" | "reason">,
): Promise<void> {
  const { id, ticketId, status } = approval;
  const asks = status === "pending" && move.move !== "approved";
  if (status === "pending" && !asks) return; // one of several votes
  await queueApprovalDeliveries(trx, {
    approvalId: id,
    ticketId,
    type: asks ? "approval.requested" : "approval.decided",
    data: messageOf(approval, move),
  });
  if (asks) await tellNews(trx, id);
}

/**
 * Makes a move, if it may be made, and requests its receipt. Who votes, and whether the vote counts, is what the database
 * says of the vote and of its key, whatever the order says; so is how many are needed. Safe to repeat: a vote counts
 * once, and so does each deadline of a run.
 *
 * @throws {Problem} `Forbidden`, `Conflict`: nobody has voted so, or they may not; then nothing has changed
 */
export async function moveApproval(parts: Parts, order: MoveOrder): Promise<MoveResult> {
  // A refusal is returned, not thrown, so that the transaction that notes it commits.
  const result = await parts.store.db.transaction(async (trx) => {
    const approval = await lockApproval(trx, order.approval_id);
    if (!approval) return new Problem("NotFound", `There is no approval ${order.approval_id}`);
    const { move } = order;
    return move === "expired" || move === "escalated"
      ? await moveByTime(trx, approval, { ...order, move })
      : await moveByVote(trx, approval, { ...order, move });
  });
  if (result instanceof Problem) throw result;
  if (result.status !== "pending") await notifyTasks(parts, order.approval_id);
  return result;
}

async function moveByVote(
  trx: Db,
  approval: ApprovalRecord,
  { run, move, vote_id }: MoveOrder & { readonly move: VoteMove },
): Promise<MoveResult | Problem> {
  const vote = vote_id === undefined ? undefined : await getVote(trx, vote_id);
  if (!vote || vote.approvalId !== approval.id || vote.move !== move) {
    return await sealForgedVote(trx, approval, move);
  }
  const receiptId = receiptIdOf({ workflow_id: `approval-${approval.id}`, run_id: vote.id }, move);
  if (vote.number !== null) return moveResult(approval, receiptId);
  const { counted, notCounted } = await countedApprovers(trx, approval);
  const [key] = await findValidKeys(trx, [vote.keyId]);
  const refusal = vote.refused
    ? new Problem(vote.refused.name, vote.refused.message)
    : voteRefusal(approval, move, key, counted);
  if (refusal) {
    await refuseVote(trx, vote.id, refusal);
    return refusal;
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
  });
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

async function recordMove(
  trx: Db,
  { id: approval_id, ticketId, action, actionCommitment, needed }: ApprovalRecord,
  run: RunId,
  approvalMove: ApprovalMove,
  ended?: string,
): Promise<MoveResult> {
  const { number, move, status, approvers, by, notCounted = [], reason, receiptId } = approvalMove;
  await addApprovalMove(trx, approval_id, approvalMove);
  if (ticketId) await tellTicket(trx, ticketId, approval_id, number, move, receiptId);
  await requestSeal(trx, {
    id: receiptId,
    category: "approval",
    actor: by ? `key:${by.key_id}` : LOOP_ACTOR,
    subject: approval_id,
    action: `approval.${move}`,
    outcome: status,
    details: {
      approval_id,
      action_commitment: actionCommitment,
      number,
      approvers: approvers.map(({ key_id }) => `key:${key_id}`),
      ...(notCounted.length > 0 ? { not_counted: notCounted.map((id) => `key:${id}`) } : {}),
      needed,
      ...(ended ? { ended } : {}),
      ...(ticketId ? { ticket_id: ticketId } : {}),
      ...run,
    },
    evidence: {
      action,
      ...(by ? { principal: by.principal } : {}),
      ...(reason ? { reason } : {}),
    },
  });
  const moved = (await getApproval(trx, approval_id))!;
  await tellPeople(trx, moved, approvalMove);
  return moveResult(moved, receiptId);
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

function moveResult(approval: ApprovalRecord, receipt_id: string): MoveResult {
  const { status, approvers, escalated, moves } = approval;
  const keys = approvers.map(({ key_id }) => `key:${key_id}`);
  const notice = webUiNotice(approval);
  return { status, approvers: keys, escalated, moves, receipt_id, notice };
}

async function tellTicket(
  trx: Db,
  ticketId: string,
  approval_id: string,
  number: number,
  move: string,
  receipt_id: string,
): Promise<void> {
  await addTicketEvent(trx, ticketId, {
    key: `${approval_id}/${number}`,
    kind: `approval_${move}`,
    data: { approval_id, receipt_id },
  });
}
