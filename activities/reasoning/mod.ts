/**
 * Activities of the reasoning pipeline, which answers questions from what the platform knows. All of them only read.
 *
 * ```ts
 * const { readPrompt, lookUp } = reasoningActivities(parts);
 * const { services } = await readPrompt({ prompt: "pay-db is down" });
 * ```
 *
 * @module
 */
export { answerDraftActivities } from "./drafts.ts";
export { reasoningActivities } from "./nodes.ts";
export { readPromptWords } from "./_prompt.ts";
