import type { z } from "zod";
import type { Settings } from "../../../config.ts";
import { createTimeoutSignal } from "../../../contract/mod.ts";
import { MODEL_PROVIDERS, type ModelProvider } from "../../../contract/domain/mod.ts";
import { anthropic } from "./_anthropic.ts";
import { ollama } from "./_ollama.ts";
import { openai } from "./_openai.ts";
import { ANSWER, type Answer, classifyPrompt, type Question } from "./classify_prompt.ts";
import { endpointOf, isLocalEndpoint } from "./endpoint.ts";
import type { Endpoint, Prompt, Provider } from "./provider.ts";

/** A model that can be asked. */
export interface Model {
  /** `anthropic`, `openai` or `ollama`. */
  readonly provider: string;
  /** The provider's name of it. */
  readonly name: string;
  /**
   * Classifies a report. After some failures in a row the model is not asked for a while.
   *
   * @param timeoutMs for the whole answer, > 0
   * @throws {NoAnswer}
   */
  classify(question: Question, timeoutMs: number): Promise<Answer>;
  /**
   * Answers any prompt, with one attempt. Failures are counted apart from those of `classify`, which has less time.
   *
   * @param shape of the answer; anything else is refused
   * @param timeoutMs for the whole answer, > 0
   * @throws {NoAnswer}
   */
  write<T>(
    prompt: Prompt,
    shape: z.ZodType<T>,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<T>;
}

/** A model gave no answer that can be used. The message says why, and repeats nothing that the model said. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  /** @param asked whether the model was asked at all */
  constructor(message: string, readonly asked = true) {
    super(message);
  }
}

const MAX_FAILURES = 3;
const PAUSE_MS = 30_000;
const CALLER_GONE = "whoever asked has gone";

/** Returns the model that the settings name: that of the first provider that has a key or an address. */
export function openModel(settings: Settings): Model | undefined {
  for (const provider of MODEL_PROVIDERS) {
    const endpoint = endpointOf(settings, provider);
    if (endpoint) return createModel(provider, PROVIDERS[provider], endpoint);
  }
  return undefined;
}

const PROVIDERS: Readonly<Record<ModelProvider, Provider>> = { anthropic, openai, ollama };

function createModel(provider: string, connect: Provider, endpoint: Endpoint): Model {
  const isLocal = isLocalEndpoint(endpoint);
  const connected = connect(endpoint);
  connected.catch(() => {}); // reported to whoever asks
  const ask = async (prompt: Prompt, signal: AbortSignal) =>
    await Promise.race([connected.then((send) => send(prompt, signal)), rejectOnAbort(signal)]);
  const [limitClassify, limitWrite] = [createCircuitBreaker(), createCircuitBreaker()];
  return {
    provider,
    name: endpoint.model,
    classify: (question, timeoutMs) =>
      limitClassify(timeoutMs, async (signal) => {
        const passages = question.passages.filter(({ kind }) => isLocal || kind === "article");
        const answer = await ask(classifyPrompt({ ...question, passages }), signal);
        return checkAnswer(answer, new Set(passages.map(({ id }) => id)));
      }),
    write: (prompt, shape, timeoutMs, callerGone) =>
      limitWrite(timeoutMs, async (signal) => {
        const { success, data } = shape.safeParse(await ask(prompt, signal));
        if (!success) throw new NoAnswer("its answer has another shape");
        return data;
      }, callerGone),
  };
}

/** Makes a function that asks within a time limit, and refuses to for a while after some failures in a row. */
function createCircuitBreaker() {
  let failures = 0;
  let pausedUntil = 0;
  return async <T>(
    timeoutMs: number,
    ask: (signal: AbortSignal) => Promise<T>,
    callerGone?: AbortSignal,
  ): Promise<T> => {
    if (Date.now() < pausedUntil) {
      throw new NoAnswer(`it failed ${MAX_FAILURES} times in a row, and rests`, false);
    }
    if (callerGone?.aborted) throw new NoAnswer(CALLER_GONE, false);
    const timeout = createTimeoutSignal(timeoutMs);
    try {
      const answer = await ask(callerGone ? AbortSignal.any([timeout, callerGone]) : timeout);
      failures = 0;
      return answer;
    } catch (error) {
      if (callerGone?.aborted) throw new NoAnswer(CALLER_GONE);
      if (++failures % MAX_FAILURES === 0) pausedUntil = Date.now() + PAUSE_MS;
      throw error instanceof NoAnswer ? error : new NoAnswer(describeError(error, timeoutMs));
    }
  };
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true })
  );
}

function checkAnswer(answer: unknown, givenIds: ReadonlySet<string>): Answer {
  const { success, data } = ANSWER.safeParse(answer);
  if (!success) throw new NoAnswer("its answer has another shape");
  if (data.citations.some((id) => !givenIds.has(id))) {
    throw new NoAnswer("it cites what it was not given");
  }
  return data;
}

/** Describes an error by its kind and HTTP status alone, as its message may repeat what was sent or answered. */
function describeError(error: unknown, timeoutMs: number): string {
  const { name, status } = error as { name?: string; status?: unknown };
  if (name === "TimeoutError" || name === "AbortError" || name === "APIUserAbortError") {
    return `no answer within ${timeoutMs} ms`;
  }
  return typeof status === "number" ? `it answered ${status}` : `it failed (${name ?? "unknown"})`;
}
