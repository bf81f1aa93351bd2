/**
 * Conversations with agents, their notes, and the tasks of agents of others.
 *
 * ```ts
 * await addConversation(trx, { id, keyId, agentId });
 * await addQuestion(trx, id, { id: messageId, text });
 * ```
 * @module
 */
export { addNote, type AgentNote, countNotes, listNotes } from "./agent_notes.ts";
export {
  addConversation,
  type Conversation,
  type ConversationMessage,
  countConversationMessages,
  findNewestConversation,
  getConversation,
  listConversationMessages,
} from "./conversations.ts";
export {
  addAnswer,
  addQuestion,
  countWaitingQuestions,
  dropQuestion,
  type EarlierTurn,
  getQuestionText,
  hasConversationMessage,
  listEarlierTurns,
  takeQuestion,
} from "./questions.ts";
