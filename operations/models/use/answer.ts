/** The answer of a model as it comes: masked, counted, and at its end settled and sealed. */
import { createTimeoutSignal, InvalidInput, Problem } from "../../../contract/mod.ts";
import type { ModelProvider, PrivacyMode } from "../../../contract/domain/mod.ts";
import { type Chat, ChatFailure, type ChatRequest } from "../../../judgement/engine/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { failureProblem } from "./failures.ts";
import { openHoldBack, TooLongToCheck } from "./hold_back.ts";
import { beginOpenCall } from "./open_calls.ts";
import type { PrivateCounts, TextMasker } from "./private_text.ts";
import { findInjectionInAnswer } from "./prompt.ts";
import type { Tally } from "./tally.ts";
import { MAX_ANSWER_SECONDS, type ReservedUse, settleUse } from "./use.ts";

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

/** A call whose cost is reserved. */
export interface ReservedCall {
  readonly db: Db;
  readonly chat: Chat;
  /** Masked. */
  readonly request: ChatRequest;
  readonly use: ReservedUse;
  readonly tally: Tally;
  readonly maskers: { readonly prompt: TextMasker; readonly answer: TextMasker };
  readonly privacy: PrivacyMode;
  readonly policyVersion: number;
  /** Longest time without a part of the answer. */
  readonly silenceMs: number;
  readonly callerGone: AbortSignal;
}

/** End of an answer, and the error for the caller, if there is one. */
interface Ending {
  readonly outcome: string;
  readonly problem?: Problem;
}

/** Asks the model, with one attempt. @throws {Problem} the answer failed or is withheld; it has a receipt all the same */
export async function* readAnswer(call: ReservedCall): ModelAnswer {
  const { chat, request, tally, maskers, silenceMs, callerGone } = call;
  const endOpenCall = beginOpenCall();
  if (callerGone.aborted) tally.nothingWasMade(); // the provider is not asked
  const signal = AbortSignal.any([callerGone, createTimeoutSignal(MAX_ANSWER_SECONDS * 1000)]);
  const holdBack = openHoldBack(maskers.answer);
  let given = "";
  let ending: Ending = { outcome: "cancelled" }; // where the reader stops
  const give = (text: string) => {
    const isPrivate = Object.keys(maskers.answer.counts).length > 0;
    if (call.privacy === "block" && isPrivate) throw withheld();
    given += text;
    return text;
  };
  let end: ModelEnd;
  try {
    for await (const part of chat.ask(request, silenceMs, signal)) {
      const isFirst = tally.isEmpty;
      tally.add(part);
      const text = give(holdBack.push(part.text));
      if (text !== "" || isFirst) yield text;
    }
    const rest = give(holdBack.end());
    if (rest !== "") yield rest;
    ending = { outcome: "answered" };
  } catch (error) {
    ending = endingOf(call, error);
  } finally {
    end = await settle(call, ending.outcome, given).finally(endOpenCall);
  }
  if (ending.problem) throw withReceipt(ending.problem, call.use.receiptId);
  return end;
}

function endingOf({ chat, request, tally, callerGone }: ReservedCall, error: unknown): Ending {
  if (error instanceof ChatFailure) {
    if (error.code === "refused" || error.code === "unreachable") tally.nothingWasMade();
    const isGone = error.code === "aborted" && callerGone.aborted;
    const outcome = isGone ? "cancelled" : error.code === "aborted" ? "timed_out" : error.code;
    return { outcome, problem: failureProblem(error, chat.provider, request.model, isGone) };
  }
  if (error instanceof TooLongToCheck) return { outcome: "withheld", problem: withheld() };
  if (error instanceof Problem) return { outcome: "withheld", problem: error };
  const problem = new Problem("Internal", "The answer could not be read", { cause: error });
  return { outcome: "failed", problem };
}

/** Settles a call, and has it sealed. @param given text that the caller has got */
async function settle(
  { db, chat, request, use, tally, maskers, privacy, policyVersion }: ReservedCall,
  outcome: string,
  given: string,
): Promise<ModelEnd> {
  const injections = await findInjectionInAnswer(given);
  const counts = tally.counts();
  const model = tally.model ?? request.model;
  const redactions = { prompt: maskers.prompt.counts, answer: maskers.answer.counts };
  const { system, messages } = request;
  const { micro } = await settleUse(db, use, {
    outcome,
    model,
    counts,
    details: {
      estimated: tally.isEstimated,
      privacy,
      policy_version: policyVersion,
      redactions_prompt: total(redactions.prompt),
      redactions_answer: total(redactions.answer),
      injections: injections.length,
    },
    evidence: { prompt: wellFormed({ system, messages }), answer: wellFormed(given) },
  });
  return {
    id: use.id,
    provider: chat.provider,
    model,
    stopReason: tally.stopReason,
    inputTokens: counts?.input ?? 0,
    outputTokens: counts?.output ?? 0,
    estimated: tally.isEstimated,
    costMicro: micro,
    redactions,
    injections,
    receiptId: use.receiptId,
  };
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
