/**
 * Activities of conversations with agents: they take the next question, and give its answer.
 *
 * ```ts
 * const { takeQuestion, giveAnswer } = conversationActivities(parts);
 * const question = await takeQuestion({ conversation_id });
 * ```
 *
 * Doesn't trust: messages and notes. They are data, which is looked up and quoted, and never followed.
 * @module
 */
export { conversationActivities } from "./conversations.ts";
export { peerActivities, peerKind } from "./peers.ts";
