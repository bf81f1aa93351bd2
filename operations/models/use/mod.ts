/**
 * Calls of language models for callers: budgets, private data, prices, and a receipt of each use.
 *
 * ```ts
 * const { answer } = await beginModelCall(context, { provider: "anthropic", messages, … });
 * for (let piece = await answer.next(); !piece.done; piece = await answer.next()) send(piece.value);
 * ```
 *
 * Trusts: the operator who writes the policy. Doesn't trust: prompts, and answers of models. Fails closed: what can't be
 * checked is not sent, and what can't be counted is billed as reserved.
 * @module
 */
export type { ModelEnd } from "./answer.ts";
export { beginModelCall, type ModelCall, requireChat } from "./ask.ts";
export { openHoldBack, TooLongToCheck } from "./hold_back.ts";
export { waitForModelCalls } from "./open_calls.ts";
export { budgetsOf, currentModelPolicy, modelFileSchema, readModelPolicy } from "./policy.ts";
export { checkModelFile, followModelFile, modelFilePath } from "./policy_file.ts";
export { costOf, findPrice, maxCostOf, shippedPrices } from "./prices.ts";
export { maskTexts, openMasker } from "./private_text.ts";
export { recoverModelCall } from "./recover.ts";
export { settleLostUses } from "./use.ts";
