/** How a person's word about an approval comes to count: kept in the database first, then told to the approval's run. */
import { WithStartWorkflowOperation } from "@temporalio/client";
import {
  type ApprovalRequest,
  approveUpdate,
  type AskingRun,
  denyUpdate,
  reopenUpdate,
  TASK_QUEUE,
  WORKFLOW,
} from "../../domain/mod.ts";
import {
  type ApprovalRecord,
  countedApprovers,
  getAct,
  getVoice,
  putVoice,
  receiptOfMove,
  refusalOf,
  refuseVoice,
  unheardVoices,
  validKeys,
  type VoiceMove,
  type VoiceRecord,
} from "../../store/mod.ts";
import type { approval } from "../../workflows/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { shownApproval, workflowIdOf } from "../../operations/_approval_shapes.ts";
import { requestOf } from "./ask.ts";
import { told } from "../temporal_errors.ts";
import { whyInVain } from "./blocker.ts";
import { existingApproval } from "../../operations/approvals/approvals.ts";
import type { Context, Platform } from "../platform.ts";

type Parts = Pick<Platform, "store" | "temporal">;

/** Longest that a decision waits for a worker to take it in. */
const DECIDED_WITHIN_MS = 10_000;
/** A word that its gateway has not told of for so long is told of by a worker: that gateway may be dead. */
const UNHEARD_SECONDS = 15;

/** Says something about an approval in the name of the caller. @throws {Problem} why it can't be said, or does not count */
export async function speak(move: VoiceMove, approvalId: string, context: Context) {
  const { store, temporal } = context;
  const record = await existingApproval(store, approvalId);
  const keyId = await speakerOf(context, record, move);
  if (move === "approved") {
    const problem = await whyInVain(store, record.id);
    if (problem) throw problem;
  }
  await temporal(); // where it is away nothing is kept, as its caller is told so
  const voice = await store.asPlatform().transaction(async (trx) => {
    const id = await putVoice(trx, { approvalId, move, keyId });
    return (await getVoice(trx, id))!;
  });
  const { number } = await deliver(context, voice);
  const receipt_id = number === null ? null : await receiptOfMove(store.asPlatform(), approvalId, number);
  return { ...shownApproval(await existingApproval(store, approvalId)), receipt_id };
}

/**
 * Who speaks. What the database refuses is told before anything is kept or started.
 *
 * @returns id of the key
 */
async function speakerOf(
  { caller, door, store }: Context,
  record: ApprovalRecord,
  move: VoiceMove,
): Promise<string> {
  if (door !== "rest") {
    throw new Problem("Forbidden", "People decide about approvals, over REST alone");
  }
  if (!caller.mayApprove) {
    throw new Problem(
      "Forbidden",
      `This key may not decide about ${record.id}; that takes one issued with may_approve`,
    );
  }
  const [key] = await validKeys(store.asPlatform(), [caller.keyId!]);
  const { counted } = await countedApprovers(store.asPlatform(), record);
  const refusal = refusalOf(record, move, key, counted);
  if (refusal) throw refusal;
  return caller.keyId!;
}

/**
 * Tells the approval's run of a voice, which then is a move or refused. Safe to repeat: a voice is taken once.
 *
 * @throws {Problem} why it is no move; `Unavailable`: it is none yet, and is told of again by a worker
 */
async function deliver(parts: Parts, voice: VoiceRecord): Promise<VoiceRecord> {
  const { store, temporal } = parts;
  const record = await existingApproval(store, voice.approvalId);
  const client = await temporal();
  const args: [{ voice_id: string }] = [{ voice_id: voice.id }];
  const again = voice.move === "reopened" ? await askedAgain(parts, record) : undefined;
  const update = voice.move === "denied" ? denyUpdate : approveUpdate;
  const telling = client.withDeadline(
    Date.now() + DECIDED_WITHIN_MS,
    () =>
      again
        ? client.workflow.executeUpdateWithStart(reopenUpdate, {
          args,
          startWorkflowOperation: again,
        })
        : client.workflow.getHandle(workflowIdOf(record.id)).executeUpdate(update, { args }),
  );
  try {
    await told(telling, () => ended(record));
  } catch (error) {
    const heard = (await getVoice(store.asPlatform(), voice.id))!;
    if (heard.number !== null) return heard; // and its answer was lost
    if (!(error instanceof Problem)) throw error;
    if (!error.rule.retryable) {
      await refuseVoice(store.asPlatform(), voice.id, error);
      throw error;
    }
    throw new Problem(error.name, `${error.message}; what you said is kept, and is told again`, {
      ...error.extra,
    });
  }
  return (await getVoice(store.asPlatform(), voice.id))!;
}

/**
 * Tells of what people said and no run has heard, as the gateway that heard it may be dead. Each is tried.
 *
 * @returns how many were told
 * @throws the first thing that is no refusal
 */
export async function deliverUnheard(parts: Parts): Promise<number> {
  let delivered = 0;
  const broken: unknown[] = [];
  for (const voice of await unheardVoices(parts.store.asPlatform(), UNHEARD_SECONDS)) {
    await deliver(parts, voice).then(() => delivered++, (error) => {
      if (!(error instanceof Problem)) broken.push(error); // else refused, or told again later
    });
  }
  if (broken.length > 0) throw broken[0];
  return delivered;
}

/** What starts an approval's run again, where it has ended, as it was asked at first. */
async function askedAgain({ store }: Parts, record: ApprovalRecord) {
  const act = await getAct(store.asPlatform(), record.id);
  const request: ApprovalRequest = {
    ...requestOf(record, act !== undefined),
    ...(record.askingRun ? { asking_run: record.askingRun as unknown as AskingRun } : {}),
    // One that is pending refuses by itself; if its workflow was ended from outside, it has as good as expired.
    reopens: { status: record.status === "denied" ? "denied" : "expired", moves: record.moves },
  };
  return new WithStartWorkflowOperation<typeof approval>(WORKFLOW.approval, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: workflowIdOf(record.id),
    workflowIdConflictPolicy: "USE_EXISTING",
    args: [request],
    staticSummary: `Asks people again about ${record.subject}`,
  });
}

function ended({ id, status, moves }: ApprovalRecord): Problem {
  if (moves === 0) return new Problem("Conflict", `Approval ${id} never began; ask anew`);
  if (status === "pending") {
    return new Problem("Conflict", `Approval ${id} was ended from outside; reopen it, or ask anew`);
  }
  return new Problem(
    "Conflict",
    `Approval ${id} is ${status}, and only a pending one can be decided`,
  );
}
