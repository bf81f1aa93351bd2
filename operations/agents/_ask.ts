/** Hands a question to the run of its conversation. */
import { WithStartWorkflowOperation } from "@temporalio/client";
import { z } from "zod";
import { type Context, mapTemporalErrors, type Platform } from "../../calls/mod.ts";
import { notNoted } from "../../calls/recover/mod.ts";
import { type LostCall, Problem, type Recovery } from "../../contract/mod.ts";
import {
  askUpdate,
  type ConversationRequest,
  type StartedRun,
  TASK_QUEUE,
  tenantAttribute,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  type Conversation,
  countConversationMessages,
  getConversation,
  hasConversationMessage,
} from "../../store/agents/mod.ts";
import { getCallEffects } from "../../store/calls/mod.ts";

/** A run ends when nobody has asked for so long. */
const IDLE_SECONDS = 1_800;
/** A run continues as new after so many answers. */
const MAX_ANSWERS = 100;
/** Most messages of one conversation. */
const MAX_MESSAGES = 1_000;
/** Most questions of one conversation that wait for answers. */
const MAX_WAITING = 20;
const ASK_TIMEOUT_MS = 10_000;

/** Id of a conversation. */
export const ConversationId = z.string()
  .regex(/^CONV-[0-9a-f]{12}$/, "Expected CONV- and 12 hex characters")
  .describe("Id of the conversation, such as CONV-5b1e09c77a42");

/** Id of a message. */
export const MessageId = z.string().describe("Id of the message, such as MSG-5b1e09c77a42");

/** Finds a conversation of the caller's key with an agent. @throws {Problem} `NotFound`, whoever else's it is */
export async function requireConversation(
  { store, caller }: Context,
  id: string,
  agentId: string,
): Promise<Conversation> {
  const found = await getConversation(store.db, id);
  if (found?.keyId === caller.keyId && found?.agentId === agentId) return found;
  throw new Problem("NotFound", `You have no conversation ${id} with ${agentId}`);
}

/**
 * Refuses another question in a conversation that is full.
 *
 * @param added 1: the question has been added in this transaction already
 * @throws {Problem} `Conflict`: it takes no more messages, or none at the moment
 */
export async function refuseFullConversation(db: Db, id: string, added: 0 | 1): Promise<void> {
  const counts = await countConversationMessages(db, id);
  const [total, waiting] = [counts.total - added, counts.waiting - added];
  if (total >= MAX_MESSAGES) {
    const message = `Cannot add a message to ${id}: it has ${MAX_MESSAGES}; begin another one`;
    throw new Problem("Conflict", message);
  }
  if (waiting >= MAX_WAITING) {
    const message =
      `Cannot ask more in ${id}: ${waiting} questions wait; ask when they are answered`;
    throw new Problem("Conflict", message);
  }
}

/**
 * Tells the run of a conversation that it has a question, and starts it where none is open. Safe to repeat: the question is
 * answered once.
 *
 * @throws {Problem} `Unavailable`
 */
export async function tellRun(
  { store, temporal }: Pick<Platform, "store" | "temporal">,
  { id, agentId, keyId }: Conversation,
  questionId: string,
): Promise<StartedRun> {
  const client = await temporal();
  const request: ConversationRequest = {
    conversation_id: id,
    agent: agentId,
    key_id: keyId,
    idle_seconds: IDLE_SECONDS,
    max_answers: MAX_ANSWERS,
  };
  const start = new WithStartWorkflowOperation(WORKFLOW.conversation, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: `conversation-${id}`,
    args: [request],
    typedSearchAttributes: [tenantAttribute(store.tenant)],
    staticSummary: `Conversation with ${agentId}`,
    workflowIdConflictPolicy: "USE_EXISTING",
  });
  start.workflowHandle().catch(() => {}); // the update fails in the same way
  const { workflow_id, run_id } = await mapTemporalErrors(client.withDeadline(
    Date.now() + ASK_TIMEOUT_MS,
    () =>
      client.workflow.executeUpdateWithStart(askUpdate, {
        args: [{ question_id: questionId }],
        updateId: questionId,
        startWorkflowOperation: start,
      }),
  ));
  return { workflow_id, run_id };
}

/**
 * Recovers a lost message. It is stored together with its note, so that the note proves it; what may be missing is that its
 * conversation's run knows of it.
 */
export async function recoverMessage(call: LostCall, platform: Platform): Promise<Recovery> {
  const { db } = platform.store;
  const effect = await getCallEffects(db, call.decisionId);
  if (!effect) return notNoted(call);
  const message_id = effect.ids.message_id!;
  const conversation = await getConversation(db, effect.ids.conversation_id!);
  if (!conversation || !await hasConversationMessage(db, message_id)) return { state: "not_done" };
  const run = await tellRun(platform, conversation, message_id);
  const ids = { message_id, conversation_id: conversation.id };
  return { state: "done", ids, output: { ...ids, ...run } };
}
