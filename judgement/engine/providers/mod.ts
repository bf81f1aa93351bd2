/**
 * Language models that may be asked besides the local classifier, through their providers' own SDKs.
 *
 * ```ts
 * const model = openModel(settings); // undefined: none is configured
 * const answer = await model.classify({ description, source, passages }, 1_500);
 * const { looks } = await model.write(prompt, PLAN, 10_000, signal);
 * ```
 *
 * Trusts no answer: one that does not fit its schema, comes too late or cites what it was not given is refused. A key goes
 * to its provider's address alone, and into no log.
 * @module
 */
export { type Chat, ChatFailure, type ChatFailureCode, openChat } from "./chat.ts";
export { PROVIDER_SETTINGS } from "./endpoint.ts";
export { createFence, type Fence } from "./fence.ts";
export { type Model, NoAnswer, openModel } from "./model.ts";
export { type Answer, INVISIBLE, type Question } from "./classify_prompt.ts";
export type { ChatMessage, ChatPart, ChatRequest, Prompt } from "./provider.ts";
