import { WithStartWorkflowOperation } from "@temporalio/client";
import { Problem } from "../../contract/mod.ts";
import {
  type ApprovalRequest,
  approveUpdate,
  denyUpdate,
  type PasskeyAnswer,
  reopenUpdate,
  type RepairOffer,
  type RequestingRun,
  TASK_QUEUE,
  tenantAttribute,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  type ApprovalRecord,
  type ApproverSignature,
  findOffered,
  getHeldCall,
  getMoveReceipt,
  getVote,
  listWaitingVotes,
  putVote,
  refuseVote,
  type VoteMove,
  type VoteRecord,
} from "../../store/approvals/mod.ts";
import { findValidKeys, listTenants } from "../../store/keys/mod.ts";
import { siteOf } from "../passkeys.ts";
import { type Context, forTenant, type Platform } from "../platform.ts";
import { mapTemporalErrors } from "../temporal_errors.ts";
import { approvalWorkflowId, existingApproval, requestOf } from "./ask.ts";
import { approvalBlocker } from "./blocker.ts";
import { takeStatement } from "./statement.ts";
import { countedApprovers, mayNotApprove, passkeyRefusal, voteRefusal } from "./rights.ts";
import { subjectRefusal } from "./subject.ts";
import { outdatedVote } from "./successor.ts";

type Parts = Pick<Platform, "store" | "temporal">;

/** Milliseconds that a vote waits for a worker to take it. */
const DELIVERY_TIMEOUT_MS = 10_000;
/** Time after which an approval without a workflow is none that is about to begin. */
const BEGINS_WITHIN_MS = 5 * 60_000;
/** Seconds after which a worker delivers a vote, as the gateway that stored it may be dead. */
const UNDELIVERED_SECONDS = 15;

/** Words and signature that a person adds to a vote. */
export interface VoteWords {
  /** For people; null: none. */
  readonly reason?: string | null;
  /** Signature by a key of the voter's own; null: none. */
  readonly signature?: ApproverSignature | null;
  /** Repair that the voter offers instead of what they deny. */
  readonly offer?: RepairOffer;
  /** Answer of the voter's passkey, where they have signed in and approve. */
  readonly passkey?: PasskeyAnswer | undefined;
}

/** An approval after a vote. */
export interface VoteResult {
  readonly approval: ApprovalRecord;
  /** Receipt of the move; null: the vote is no move yet. */
  readonly receiptId: string | null;
}

/**
 * Casts the caller's vote: stores it first, then tells the approval's workflow, so that a killed gateway loses none.
 *
 * @param onStored writes what belongs to the vote, in the transaction that stores it
 * @throws {Problem} the vote can't be cast, or does not count, with the reason
 */
export async function castVote(
  move: VoteMove,
  approvalId: string,
  { reason = null, signature = null, passkey, offer }: VoteWords,
  context: Context,
  onStored?: (trx: Db, voteId: string) => Promise<void>,
): Promise<VoteResult> {
  const { store, temporal } = context;
  const db = store.db;
  const approval = await existingApproval(context, approvalId);
  if (approval.status === "outdated") throw await outdatedVote(db, approval);
  const keyId = await checkVote(context, approval, move, { signature, passkey });
  await temporal(); // while it is away nothing is stored, as the caller is told so
  const vote = await db.transaction(async (trx) => {
    const statement = passkey ? await takeStatement(context, trx, approval, passkey) : null;
    const said = { reason, signature, statement, offer: offer ?? null };
    const id = await putVote(trx, { approvalId, move, keyId, ...said });
    await onStored?.(trx, id);
    return (await getVote(trx, id))!;
  });
  const { number } = await deliverVote(context, vote).catch(async (error) => {
    const ended = await existingApproval(context, approvalId);
    throw ended.status === "outdated" ? await outdatedVote(db, ended) : error;
  });
  const receiptId = number === null ? null : await getMoveReceipt(db, approvalId, number);
  return { approval: await existingApproval(context, approvalId), receiptId };
}

/**
 * Checks that the caller's vote would count now. The activity that makes the move checks again; here nothing is stored or
 * started for a refusal.
 *
 * @returns the voter's key id
 * @throws {Problem} why it would not
 */
export async function checkVote(
  context: Context,
  approval: ApprovalRecord,
  move: VoteMove,
  { signature = null, passkey }: Pick<VoteWords, "signature" | "passkey">,
): Promise<string> {
  const keyId = await checkVoter(context, approval, move, passkey);
  const [origin] = passkey ? siteOf(context).origins : [];
  const credentialId = passkey?.assertion.credential_id;
  const by = origin && credentialId ? { origin, credentialId } : null;
  const vote = { move, signature, passkey: by };
  const refusal = await subjectRefusal(context, context.store.db, approval, vote);
  if (refusal) throw refusal;
  const offered = move === "reopened" && await findOffered(context.store.db, approval.id);
  if (offered && offered.open) {
    throw new Problem(
      "Conflict",
      `Approval ${approval.id} is not reopened while ${offered.id}, which was offered instead, is not denied`,
    );
  }
  const blocker = move === "approved" ? await approvalBlocker(context, approval.id) : undefined;
  if (blocker) throw blocker;
  return keyId;
}

/** Returns the voter's key id. */
async function checkVoter(
  { caller, door, store, urls }: Context,
  approval: ApprovalRecord,
  move: VoteMove,
  passkey: PasskeyAnswer | undefined,
): Promise<string> {
  if (door !== "rest") {
    throw new Problem("Forbidden", "People decide about approvals, over REST alone");
  }
  if (!caller.mayApprove && !caller.session?.mayApprove) throw mayNotApprove(approval.id);
  if (caller.session && move === "approved" && !passkey) {
    throw new Problem("Forbidden", "Approving takes your passkey; a click alone denies");
  }
  if (move === "approved" && !passkey && passkeyRefusal(approval)) {
    throw passkeyRefusal(approval, urls.gateway)!;
  }
  if (passkey && (!caller.session || move !== "approved")) {
    throw new Problem("Forbidden", "A passkey's answer is for approving on the console");
  }
  const db = store.db;
  const [key] = await findValidKeys(db, [caller.keyId!]);
  const { counted } = await countedApprovers(db, approval);
  const refusal = voteRefusal(approval, move, key, counted);
  if (refusal) throw refusal;
  return caller.keyId!;
}

/**
 * Tells the approval's workflow of a vote, which then is a move or refused. Safe to repeat: a vote counts once.
 *
 * @throws {Problem} why it is no move; `Unavailable`: it is none yet, and a worker delivers it again
 */
export async function deliverVote(parts: Parts, vote: VoteRecord): Promise<VoteRecord> {
  const { store, temporal } = parts;
  const db = store.db;
  const approval = await existingApproval(parts, vote.approvalId);
  const client = await temporal();
  const args: [{ vote_id: string }] = [{ vote_id: vote.id }];
  const restart = vote.move === "reopened" ? await restartOf(parts, approval) : undefined;
  const update = vote.move === "denied" ? denyUpdate : approveUpdate;
  const delivery = client.withDeadline(
    Date.now() + DELIVERY_TIMEOUT_MS,
    () =>
      restart
        ? client.workflow.executeUpdateWithStart(reopenUpdate, {
          args,
          startWorkflowOperation: restart,
        })
        : client.workflow.getHandle(approvalWorkflowId(approval.id))
          .executeUpdate(update, { args }),
  );
  try {
    await mapTemporalErrors(delivery, () => hasEnded(approval));
  } catch (error) {
    const current = (await getVote(db, vote.id))!;
    if (current.number !== null) return current; // only the answer was lost
    if (!(error instanceof Problem)) throw error;
    if (!error.rule.retryable) {
      await refuseVote(db, vote.id, error);
      throw error;
    }
    const message = `${error.message}; your vote is stored, and is delivered again`;
    throw new Problem(error.name, message, { ...error.extra });
  }
  return (await getVote(db, vote.id))!;
}

/**
 * Delivers votes of all tenants that no workflow has received, as the gateway that stored them may be dead. Each is tried.
 *
 * @returns how many were delivered
 * @throws the first error that is no refusal
 */
export async function deliverVotes(parts: Parts): Promise<number> {
  let delivered = 0;
  const failures: unknown[] = [];
  for (const tenant of await listTenants(parts.store.asPlatform())) {
    const owner = forTenant(parts, tenant);
    for (const vote of await listWaitingVotes(owner.store.db, UNDELIVERED_SECONDS)) {
      await deliverVote(owner, vote).then(() => delivered++, (error) => {
        if (!(error instanceof Problem)) failures.push(error); // a Problem: refused, or delivered later
      });
    }
  }
  if (failures.length > 0) throw failures[0];
  return delivered;
}

/** Starts an approval's workflow again, where it has ended, with what was asked at first. */
async function restartOf({ store }: Parts, approval: ApprovalRecord) {
  const held = await getHeldCall(store.db, approval.id);
  const { askingRun } = approval;
  const request: ApprovalRequest = {
    ...requestOf(approval, held !== undefined),
    ...(askingRun ? { asking_run: askingRun as unknown as RequestingRun } : {}),
    // A pending one refuses by itself; if its workflow was ended from outside, it counts as expired.
    reopens: {
      status: approval.status === "denied" ? "denied" : "expired",
      moves: approval.moves,
    },
  };
  return new WithStartWorkflowOperation(WORKFLOW.approval, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: approvalWorkflowId(approval.id),
    workflowIdConflictPolicy: "USE_EXISTING",
    args: [request],
    typedSearchAttributes: [tenantAttribute(approval.tenant)],
    staticSummary: `Asks people again about ${approval.subject}`,
  });
}

function hasEnded({ id, status, moves, askedAt }: ApprovalRecord): Problem {
  if (moves === 0) {
    // Between its row and its workflow, a worker may have been lost.
    if (Date.now() - Date.parse(askedAt) > BEGINS_WITHIN_MS) {
      return new Problem("Conflict", `Approval ${id} never began; ask anew`);
    }
    const headers = { "retry-after": "5" };
    return new Problem("Unavailable", `Approval ${id} has not begun yet`, { headers });
  }
  if (status === "pending") {
    return new Problem("Conflict", `Approval ${id} was ended from outside; reopen it, or ask anew`);
  }
  return new Problem(
    "Conflict",
    `Approval ${id} is ${status}, and only a pending one can be decided`,
  );
}
