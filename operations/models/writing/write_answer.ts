/** Answers to questions, written by a model from passages and held against them. */
import { asProblem, createTimeoutSignal, stripInvisible } from "../../../contract/mod.ts";
import { type Claim, type Evidence, MODEL_PROVIDERS } from "../../../contract/domain/mod.ts";
import { type Chat, createFence, type Fence, openChat } from "../../../judgement/engine/mod.ts";
import { listServiceNames } from "../../../store/cmdb/mod.ts";
import { isModelAllowed } from "../../../calls/governance/mod.ts";
import { beginModelCall, type ModelCall, type ModelEnd } from "../use/mod.ts";
import { CITATION_MARK } from "./_claim_words.ts";
import { checkClaims } from "./claims.ts";
import { findNames } from "./names.ts";
import { type Context } from "../../../calls/mod.ts";

/** A passage that an answer may rest on. */
export interface AnswerPassage {
  readonly text: string;
  /** False: no model elsewhere may read it. */
  readonly isShared: boolean;
}

/** An answer, or why there is none. */
export type WrittenAnswer =
  | {
    /** Sentences, each followed by the numbers of the passages that it cites, from 1: `… [1, 2]`. */
    readonly answer: string;
    readonly reason: null;
    readonly use: ModelEnd;
  }
  | {
    readonly answer: null;
    /** A sentence for the caller. */
    readonly reason: string;
    /** The use of the model, which is billed whatever became of its answer; null: none was asked, or it gave none. */
    readonly use: ModelEnd | null;
  };

const MAX_TOKENS = 600;
const MAX_SENTENCES = 8;
const MAX_SENTENCE = 400;
/** The answer of a model that finds none in the passages. */
const NOTHING = "NONE";
const LIST_MARK = /^(?:[-*•]|\d+[.)])\s+/;
/** Reasons of providers for an end before the end. */
const CUT_OFF = /^(max_tokens|length|max_output_tokens)$/;

/**
 * Has the first configured model answer a question from passages, by the rules, budgets and masks of calls of models. All
 * of its sentences are held against the passages that they cite: if one does not hold, there is no answer.
 */
export async function writeAnswer(
  context: Context,
  question: string,
  passages: readonly AnswerPassage[],
): Promise<WrittenAnswer> {
  const { settings } = context.config;
  const chat = firstChat(context);
  if (!chat) return without("No model is configured to write an answer");
  const given = passages.flatMap(({ text, isShared }, at) =>
    isShared || chat.isLocal ? [{ n: at + 1, text }] : []
  );
  if (given.length === 0) return without("There is no passage that a model may be shown");
  const timeout = createTimeoutSignal(settings.SEALOOP_MODEL_WRITE_MS);
  const signal = AbortSignal.any([context.signal, timeout]);
  try {
    if (!await isModelAllowed(context, chat.provider, question)) {
      return without("Governance allows no model to be asked for this");
    }
    const call = await askModel({ ...context, signal }, chat, question, given);
    const { text, end } = await readWhole(call);
    return await judge(context, call, given.map(({ n }) => n), text, end);
  } catch (error) {
    if (timeout.aborted) return without("The model took too long");
    return without(`No answer could be written: ${asProblem(error).message}`);
  }
}

/** Returns the first provider that is configured to write. */
function firstChat({ config: { settings } }: Context): Chat | undefined {
  if (settings.SEALOOP_MODEL_WRITE_MS === 0) return undefined;
  for (const provider of MODEL_PROVIDERS) {
    const chat = openChat(settings, provider);
    if (chat) return chat;
  }
  return undefined;
}

function without(reason: string, use: ModelEnd | null = null): WrittenAnswer {
  return { answer: null, reason, use };
}

/** Asks, with each passage in a message of its own, so that it can be told apart once it is masked. */
async function askModel(
  context: Context,
  { provider }: Chat,
  question: string,
  passages: readonly { readonly n: number; readonly text: string }[],
): Promise<ModelCall> {
  const fence = createFence();
  const texts = [
    ...passages.map(({ n, text }) => fence.enclose(`passage ${n}`, text)),
    fence.enclose("question", question),
  ];
  return await beginModelCall(context, {
    provider,
    model: undefined,
    system: instructions(fence),
    messages: texts.map((content) => ({ role: "user" as const, content })),
    maxTokens: MAX_TOKENS,
    privacy: undefined,
  });
}

function instructions({ warning }: Fence): string {
  return `You answer a question about IT operations from numbered passages of a knowledge base. ${warning}\n\n` +
    "Write 1 to 6 sentences in plain words, each on a line of its own, and after each the numbers of the passages that it " +
    "follows from, in brackets, as [1] or [1, 3]. Each says what is and why, and nothing that should be done: no commands, " +
    "no addresses, no advice. Write names, ids and numbers exactly as those passages have them. The sentences are checked " +
    `against the passages. Where these do not answer the question, write ${NOTHING} and nothing else.`;
}

async function readWhole({ answer }: ModelCall): Promise<{ text: string; end: ModelEnd }> {
  let text = "";
  for (;;) {
    const piece = await answer.next();
    if (piece.done) return { text, end: piece.value };
    text += piece.value;
  }
}

/** Holds an answer against the passages as the model got them. @param numbers of the passages, by their messages */
async function judge(
  { engine, store }: Context,
  { prompt: { messages } }: ModelCall,
  numbers: readonly number[],
  text: string,
  end: ModelEnd,
): Promise<WrittenAnswer> {
  if (text.trim() === NOTHING) return without("The model found no answer in these passages", end);
  const objection = CUT_OFF.test(end.stopReason) ? "It was cut off" : objectionToForm(text);
  if (objection) return without(`The model's answer is not shown: ${objection}`, end);
  const claims = readClaims(text);
  const [report, ...contents] = [messages.at(-1)!, ...messages.slice(0, -1)].map(withoutFence);
  const evidence = contents.map((content, at): Evidence => ({
    n: numbers[at]!,
    from: "knowledge",
    text: content,
  }));
  const known = [report, ...contents].join("\n");
  const { objections } = await checkClaims(engine, claims, {
    tenant: store.tenant,
    report: report!,
    evidence,
    services: findNames(known, await listServiceNames(store.db)),
  });
  if (objections.length > 0) {
    return without(`The model's answer is not shown: ${objections.join("; ")}`, end);
  }
  const answer = claims.map((claim) => `${claim.text} [${claim.evidence.join(", ")}]`).join("\n");
  return { answer, reason: null, use: end };
}

function objectionToForm(text: string): string | undefined {
  const lines = linesOf(text);
  if (lines.length === 0) return "It is empty";
  if (stripInvisible(text) !== text) return "It hides characters";
  if (lines.length > MAX_SENTENCES || lines.some((line) => line.length > MAX_SENTENCE)) {
    return "It is too long";
  }
  return undefined;
}

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim().replace(LIST_MARK, "")).filter(Boolean);
}

function readClaims(text: string): Claim[] {
  return linesOf(text).map((line) => ({
    text: line.replace(CITATION_MARK, "").trim(),
    evidence: [...new Set((line.match(CITATION_MARK) ?? []).flatMap(numbersIn))],
  }));
}

const numbersIn = (mark: string) => (mark.match(/\d+/g) ?? []).map(Number);

/** Removes the marks around an enclosed text: its first and its last line. */
const withoutFence = ({ content }: { readonly content: string }) =>
  content.split("\n").slice(1, -1).join("\n");
