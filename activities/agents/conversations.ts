import { receiptIdOf } from "../../calls/mod.ts";
import {
  type ConversationRequest,
  type GivenAnswer,
  kindOfAgent,
  type Question,
  say,
} from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import {
  addAnswer,
  listEarlierTurns,
  listNotes,
  takeQuestion as takeStoredQuestion,
} from "../../store/agents/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import { listServiceNames } from "../../store/cmdb/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { completeAnswer } from "./_answer_text.ts";
import { promptInContext } from "./_prompt.ts";

/** Most earlier questions in which a message's subject is looked for. */
const MAX_EARLIER = 10;

/** Creates the activities of conversations with agents. */
export function conversationActivities({ store }: ActivityParts) {
  const db = store.db;

  /** Returns the first open question, or null. Safe to repeat: it stays open until it is answered, and only attempts grow. */
  async function takeQuestion(
    { conversation_id, agent }: Pick<ConversationRequest, "conversation_id" | "agent">,
  ): Promise<Question | null> {
    const question = await takeStoredQuestion(db, conversation_id);
    if (!question) return null;
    const { id, number, text, attempts } = question;
    const common = { question_id: id, attempt: attempts };
    if (kindOfAgent(agent) === "a2a") return { ...common, prompt: text, assumed: [] };
    const earlier = await listEarlierTurns(db, conversation_id, number, MAX_EARLIER);
    const context = promptInContext(text, earlier, await listServiceNames(db));
    return { ...common, ...context };
  }

  /** Stores an answer, seals it, and tells the feed. Safe to repeat: a question is answered once. */
  async function giveAnswer(given: GivenAnswer): Promise<void> {
    const { conversation_id, agent, question, answer, run } = given;
    const { question_id } = question;
    const { text, citations } = completeAnswer(question, answer, await listNotes(db, agent));
    const receiptId = receiptIdOf(run, `ANSWER ${question_id}`);
    const answerId = `MSG-${receiptId.slice(0, 12)}`;
    const { outcome, written_by, provider } = answer;
    const kind = kindOfAgent(agent);
    await db.transaction(async (trx) => {
      const isNew = await addAnswer(trx, conversation_id, {
        id: answerId,
        answers: question_id,
        text,
        outcome,
        citations,
        receiptId,
      });
      if (!isNew) return;
      await requestSeal(trx, {
        id: receiptId,
        category: "agent_answered",
        actor: kind === "a2a" ? "agent:a2a" : `agent:${agent}`,
        subject: conversation_id,
        action: "conversation.answer",
        outcome,
        details: {
          question_id,
          answer_id: answerId,
          citations: citations.length,
          written_by,
          provider,
          ...run,
        },
        evidence: { agent, prompt: question.prompt, answer: text },
      });
      await addMessage(trx, {
        kind: "agent.answered",
        from: agent,
        subject: say`${agent} has answered`,
        text: say`${agent} has answered ${question_id} of ${conversation_id}.`,
        refs: { conversation_id, message_id: answerId, receipt_id: receiptId },
        key: `answered ${question_id}`,
      });
    });
  }

  return { takeQuestion, giveAnswer };
}
