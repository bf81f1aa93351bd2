/** The life of a model call: check the prompt, reserve its cost, ask, mask the answer as it comes, settle and seal. */
import type { Config } from "../../config.ts";
import { createTimeoutSignal, InvalidInput, Problem } from "../../contract/mod.ts";
import { type ModelProvider, type PrivacyMode, stricterPrivacy } from "../../domain/mod.ts";
import { type Chat, ChatFailure, openChat, PROVIDER_SETTINGS } from "../../engine/mod.ts";
import type { Context } from "../platform.ts";
import { openHoldBack, TooLongToCheck } from "./hold_back.ts";
import { createTally } from "./tally.ts";
import { budgetsOf, currentModelPolicy, privacyOf } from "./policy.ts";
import { findPrice } from "./prices.ts";
import { openMasker, type PrivateCounts } from "./private_text.ts";
import { checkPrompt, findInjectionInAnswer, type Prompt } from "./prompt.ts";
import { failureProblem } from "./failures.ts";
import { MAX_ANSWER_SECONDS, reserveUse, settleUse } from "./use.ts";

/** What a model is asked. */
export interface ModelOrder extends Prompt {
  readonly provider: ModelProvider;
  /** Undefined: the one that the settings name. */
  readonly model: string | undefined;
  readonly maxTokens: number;
  /** What the caller wishes to be done with private data; the policy's stricter word counts. */
  readonly privacy: PrivacyMode | undefined;
}

/** The end of an answer. */
export interface ModelEnd {
  /** `MDL-` and 12 hex characters. */
  readonly id: string;
  readonly provider: ModelProvider;
  /** As the provider names it. */
  readonly model: string;
  readonly stopReason: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** True where the provider told no counts. */
  readonly estimated: boolean;
  /** Millionths of a US dollar; null: the price is not known. */
  readonly costMicro: number | null;
  readonly redactions: { readonly prompt: PrivateCounts; readonly answer: PrivateCounts };
  /** Attempts in the answer to steer an agent that reads it. */
  readonly injections: readonly string[];
  readonly receiptId: string;
}

/** An answer as it comes: the masked text in pieces, some of them empty; at its end {@linkcode ModelEnd}. */
export type ModelAnswer = AsyncGenerator<string, ModelEnd, void>;

/** A model call that may begin. */
export interface ModelCall {
  readonly id: string;
  readonly model: string;
  readonly answer: ModelAnswer;
}

/** Returns a provider's conversations. @throws {Problem} `NotConfigured`, with the setting that would change it */
export function requireChat({ settings }: Config, provider: ModelProvider): Chat {
  const chat = openChat(settings, provider);
  if (chat) return chat;
  const detail = `Cannot ask ${provider}: set ${PROVIDER_SETTINGS[provider]}`;
  throw new Problem("NotConfigured", detail, {
    body: { detail, code: "not_configured", setting: PROVIDER_SETTINGS[provider] },
  });
}

/**
 * Checks and masks a prompt, and reserves what the answer can cost. The model is asked when the first piece is read. A
 * reader who stops is billed for what was made.
 *
 * @throws {Problem} `NotConfigured`, `Denied`, `Forbidden`, `RateLimited`
 */
export async function beginModelCall(context: Context, order: ModelOrder): Promise<ModelCall> {
  const { config, store, caller, decisionId } = context;
  const chat = requireChat(config, order.provider);
  const { version, policy } = await currentModelPolicy(store.db);
  const privacy = stricterPrivacy(
    privacyOf(policy, store.tenant),
    order.privacy ?? "mask",
  );
  const createMasker = openMasker();
  const masked = { prompt: createMasker(), answer: createMasker() };
  const prompt = await checkPrompt(order, privacy, masked.prompt);
  const model = order.model ?? chat.defaultModel;
  const tally = createTally(prompt);
  const use = await reserveUse(store.db, {
    provider: order.provider,
    model,
    keyId: caller.keyId!,
    decisionId,
    price: findPrice(policy.prices, order.provider, model, chat.isOfficial),
    maxInput: tally.maxInput,
    maxOutput: order.maxTokens,
  }, budgetsOf(policy, { ...caller, tenant: store.tenant }));

  async function* answer(): ModelAnswer {
    const signal = AbortSignal.any([
      context.signal,
      createTimeoutSignal(MAX_ANSWER_SECONDS * 1000),
    ]);
    const silenceMs = config.settings.SEALOOP_MODEL_SILENCE_SECONDS * 1000;
    const holdBack = openHoldBack(masked.answer);
    let given = "";
    let outcome = "cancelled"; // where the reader stops
    let problem: Problem | undefined;
    const take = (text: string) => {
      if (privacy === "block" && Object.keys(masked.answer.counts).length > 0) throw withheld();
      given += text;
      return text;
    };
    try {
      const request = { ...prompt, model, maxTokens: order.maxTokens };
      for await (const part of chat.ask(request, silenceMs, signal)) {
        const isFirst = tally.isEmpty;
        tally.add(part);
        const text = take(holdBack.push(part.text));
        if (text !== "" || isFirst) yield text;
      }
      const rest = take(holdBack.end());
      if (rest !== "") yield rest;
      outcome = "answered";
    } catch (error) {
      ({ outcome, problem } = endOf(error));
    } finally {
      end = await settle(outcome, given);
    }
    if (problem) throw withReceipt(problem, use.receiptId);
    return end;
  }
  let end: ModelEnd;

  function endOf(error: unknown): { outcome: string; problem: Problem } {
    if (error instanceof ChatFailure) {
      if (error.code === "refused" || error.code === "unreachable") tally.nothingWasMade();
      const isGone = error.code === "aborted" && context.signal.aborted;
      const outcome = isGone ? "cancelled" : error.code === "aborted" ? "timed_out" : error.code;
      return { outcome, problem: failureProblem(error, order.provider, model, isGone) };
    }
    if (error instanceof TooLongToCheck) return { outcome: "withheld", problem: withheld() };
    if (error instanceof Problem) return { outcome: "withheld", problem: error };
    const failed = new Problem("Internal", "The answer could not be read", { cause: error });
    return { outcome: "failed", problem: failed };
  }

  async function settle(outcome: string, given: string): Promise<ModelEnd> {
    const injections = await findInjectionInAnswer(given);
    const counts = tally.counts();
    const named = tally.model ?? model;
    const redactions = { prompt: { ...masked.prompt.counts }, answer: { ...masked.answer.counts } };
    const charge = await settleUse(store.db, use, {
      outcome,
      model: named,
      counts,
      details: {
        estimated: tally.isEstimated,
        privacy,
        policy_version: version,
        redactions_prompt: total(redactions.prompt),
        redactions_answer: total(redactions.answer),
        injections: injections.length,
      },
      evidence: { prompt: wellFormed(prompt), answer: wellFormed(given) },
    });
    return {
      id: use.id,
      provider: order.provider,
      model: named,
      stopReason: tally.stopReason,
      inputTokens: counts?.input ?? 0,
      outputTokens: counts?.output ?? 0,
      estimated: tally.isEstimated,
      costMicro: charge.micro,
      redactions,
      injections,
      receiptId: use.receiptId,
    };
  }

  return { id: use.id, model, answer: answer() };
}

function withheld(): Problem {
  return new Problem(
    "Denied",
    "The answer has private data, or what can't be told from it, and is withheld; it is billed",
  );
}

function withReceipt(problem: Problem, receiptId: string): Problem {
  if (problem instanceof InvalidInput) return problem; // nothing was billed
  const { extra, body } = problem;
  return new Problem(problem.name, problem.message, {
    ...extra,
    body: { ...body, receipt_id: receiptId },
  });
}

const total = (counts: PrivateCounts) => Object.values(counts).reduce((sum, one) => sum + one, 0);

/** Returns a value whose texts have a canonical form: no halves of characters, no U+0000. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed().replaceAll("\0", "\ufffd");
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, wellFormed(one)]));
}
