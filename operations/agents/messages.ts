import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import { isBuiltInAgent } from "../../contract/domain/mod.ts";
import {
  addConversation,
  addQuestion,
  type Conversation,
  dropQuestion,
  findNewestConversation,
  listConversationMessages,
} from "../../store/agents/mod.ts";
import { noteCallEffects } from "../../store/calls/mod.ts";
import { Source } from "../reasoning/mod.ts";
import { EXAMPLE_RUN_ID, Timestamp, trimmedText } from "../schemas/mod.ts";
import { AgentId, requireAgent } from "./_agents.ts";
import {
  ConversationId,
  MessageId,
  recoverMessage,
  refuseFullConversation,
  requireConversation,
  tellRun,
} from "./_ask.ts";

/** Longest message. */
const MAX_LENGTH = 4_000;

const exampleIds = { message_id: "MSG-5b1e09c77a42", conversation_id: "CONV-5b1e09c77a42" };

/** Asks an agent. */
export const sendAgentMessage = operation({
  name: "agents.message",
  group: "people",
  summary: "Ask an agent a question, in a new conversation or one of yours",
  description:
    "Answers at once; the agent's answer appears in the conversation. Without `conversation_id`, a new conversation begins. " +
    "Questions of one conversation are answered in their order, each by a run of its own. The platform's own agents only " +
    "read: an answer is made from its records, cites them, and says when nothing is known. To an agent of another " +
    "organization the message is sent once, and to nobody else. A message may refer to what was " +
    "named before (“is it still down?”). Only your key reads the conversation.",
  effect: "run",
  access: "key",
  input: z.object({
    agent_id: AgentId,
    text: trimmedText(1, MAX_LENGTH).describe(
      "The question; names of services and ids of tickets and receipts are recognized",
    ),
    conversation_id: ConversationId.optional(),
  }),
  output: z.object({
    message_id: MessageId,
    conversation_id: ConversationId,
    workflow_id: z.string().describe("Workflow of the conversation"),
    run_id: z.string(),
  }),
  rest: { agent_message: "POST /v1/agents/{agent_id}/message" },
  presentation: {
    hints: { destructive: false, openWorld: true },
    errors: ["NotFound", "Conflict", "NotConfigured", "Unavailable"],
    status: 202,
  },
  governance: {
    rule: ({ agent_id }) =>
      isBuiltInAgent(agent_id) ? "sandbox-and-judgement" : "acts-on-the-outside",
    addressee: "agent_id",
    async check({ agent_id, conversation_id }, context) {
      requireAgent(context, agent_id);
      if (conversation_id === undefined) return;
      const { id } = await requireConversation(context, conversation_id, agent_id);
      await refuseFullConversation(context.store.db, id, 0);
    },
  },
  durability: { recover: recoverMessage },
  example: {
    input: { agent_id: "metrics", text: "Is billing up?" },
    output: {
      ...exampleIds,
      workflow_id: `conversation-${exampleIds.conversation_id}`,
      run_id: EXAMPLE_RUN_ID,
    },
  },
  async run({ agent_id, text, conversation_id }, context) {
    requireAgent(context, agent_id);
    const message_id = `MSG-${idOfCall(context.decisionId, 12)}`;
    const conversation = await context.store.db.transaction(async (trx) => {
      const open = conversation_id === undefined
        ? newConversation(context, agent_id)
        : await requireConversation(context, conversation_id, agent_id);
      if (conversation_id === undefined) await addConversation(trx, open);
      await addQuestion(trx, open.id, { id: message_id, text });
      await refuseFullConversation(trx, open.id, 1);
      const ids = { message_id, conversation_id: open.id };
      await noteCallEffects(trx, context.decisionId, ids);
      return open;
    });
    const run = await tellOrDrop(context, conversation, message_id);
    return { message_id, conversation_id: conversation.id, ...run };
  },
});

function newConversation({ caller, decisionId }: Context, agentId: string): Conversation {
  return { id: `CONV-${idOfCall(decisionId, 12)}`, keyId: caller.keyId!, agentId };
}

/** Tells the run of a question; where that fails, takes the question back unless the run has it after all. */
async function tellOrDrop(context: Context, conversation: Conversation, questionId: string) {
  try {
    return await tellRun(context, conversation, questionId);
  } catch (error) {
    if (await dropQuestion(context.store.db, conversation.id, questionId)) throw error;
    return await tellRun(context, conversation, questionId);
  }
}

const Message = z.object({
  message_id: MessageId,
  role: z.enum(["user", "agent"]),
  text: z.string().describe("Of an agent: [n] names a citation"),
  citations: z.array(Source).describe("In the order of the numbers in the text"),
  at: Timestamp,
  receipt_id: z.string().nullable().describe("Receipt of an answer; null: it is a question"),
});

/** The caller's newest conversation with an agent. */
export const agentConversation = operation({
  name: "agents.conversation",
  group: "people",
  summary: "Read your newest conversation with an agent, newest messages first",
  effect: "read",
  access: "key",
  input: z.object({
    agent_id: AgentId,
    limit: z.number().int().min(1).max(500).default(50).describe(
      "Maximum number of messages to return",
    ),
  }),
  output: z.object({
    conversation_id: ConversationId.nullable().describe("Null: your key has none with this agent"),
    total: z.number().int(),
    messages: z.array(Message),
  }),
  rest: { agent_conversation: "GET /v1/agents/{agent_id}/conversation" },
  presentation: { untrusted: true, errors: ["NotFound"] },
  example: {
    input: { agent_id: "metrics" },
    output: {
      conversation_id: exampleIds.conversation_id,
      total: 1,
      messages: [{
        message_id: exampleIds.message_id,
        role: "user",
        text: "Is billing up?",
        citations: [],
        at: "2026-07-01T12:00:00.000Z",
        receipt_id: null,
      }],
    },
  },
  async run({ agent_id, limit }, context) {
    const { store, caller } = context;
    requireAgent(context, agent_id);
    const newest = await findNewestConversation(store.db, caller.keyId!, agent_id);
    if (!newest) return { conversation_id: null, total: 0, messages: [] };
    const { total, messages } = await listConversationMessages(store.db, newest.id, limit);
    return {
      conversation_id: newest.id,
      total,
      messages: messages.map(({ id, role, text, citations, at, receiptId }) => ({
        message_id: id,
        role,
        text,
        citations,
        at,
        receipt_id: receiptId,
      })),
    };
  },
});
