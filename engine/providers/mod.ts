/**
 * Language models that may be asked besides: by their makers' own SDKs, of which the configured one alone is loaded.
 *
 * ```ts
 * const model = openModel(settings); // undefined: none is configured
 * const answer = await model.ask({ description, source, passages }, 1_500);
 * const { looks } = await model.write(prompt, PLAN, 10_000, signal);
 * ```
 *
 * Trusts no answer: what does not fit the schema, comes too late or cites what was not given is no answer. A key goes to
 * its provider's address alone, and into no log.
 * @module
 */
import type { z } from "zod";
import { createTimeoutSignal } from "../../contract/mod.ts";
import type { Settings } from "../../config.ts";
import { anthropic } from "./_anthropic.ts";
import { ollama } from "./_ollama.ts";
import { openai } from "./_openai.ts";
import { ANSWER, type Prompt, promptOf } from "./_prompt.ts";

export { newFence } from "./_fence.ts";
export { type Prompt, UNSEEN } from "./_prompt.ts";

/** What a model is asked about. */
export interface Question {
  readonly description: string;
  readonly source: string;
  /** What was retrieved. Past incidents are kept from models that do not run on this machine. */
  readonly passages: readonly {
    readonly id: string;
    readonly kind: string;
    readonly text: string;
  }[];
}

/** What a model found. Its citations are ids of passages that it was given. */
export type Answer = Readonly<z.output<typeof ANSWER>>;

/** A model that can be asked. */
export interface Model {
  /** `anthropic`, `openai` or `ollama`. */
  readonly provider: string;
  /** As its provider calls it. */
  readonly name: string;
  /**
   * Asks what a report is about. After some failures in a row it is left alone for a while.
   *
   * @param ms for all of it, > 0
   * @throws {NoAnswer}
   */
  ask(question: Question, ms: number): Promise<Answer>;
  /**
   * Asks anything else, once. Failures are counted apart from those of `ask`, which leaves it less time.
   *
   * @param shape of the answer; what is not that is no answer
   * @param ms for all of it, > 0
   * @throws {NoAnswer}
   */
  write<T>(prompt: Prompt, shape: z.ZodType<T>, ms: number, signal?: AbortSignal): Promise<T>;
}

/** A model gave no answer that can be used. The message says why, in words that hold nothing of what it said. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  /** @param asked whether it was asked at all */
  constructor(message: string, readonly asked = true) {
    super(message);
  }
}

/** Connects to a provider; gives what asks its model, and gives what it answered, whatever that is. */
export type Provider = (
  place: Place,
) => Promise<(prompt: Prompt, signal: AbortSignal) => Promise<unknown>>;

/** Where a model is. */
export interface Place {
  readonly apiKey: string;
  readonly url: string;
  readonly model: string;
}

const FAILURES = 3;
const PAUSE_MS = 30_000;
const GONE = "whoever asked has gone";
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
/** Servers of one's own that speak OpenAI's language may need no key, but its SDK does. */
const NO_KEY = "none";

/** The model that the settings name: that of the first provider that has a key, or an address. */
export function openModel(settings: Settings): Model | undefined {
  const {
    SEALOOP_ANTHROPIC_API_KEY: anthropicKey,
    SEALOOP_OPENAI_API_KEY: openaiKey,
    SEALOOP_OPENAI_URL: openaiUrl,
    SEALOOP_OLLAMA_URL: ollamaUrl,
  } = settings;
  if (anthropicKey) {
    const { SEALOOP_ANTHROPIC_URL: url, SEALOOP_ANTHROPIC_MODEL: model } = settings;
    return modelOf("anthropic", anthropic, { apiKey: anthropicKey, url, model });
  }
  if (openaiKey || openaiUrl) {
    const { SEALOOP_OPENAI_MODEL: model } = settings;
    const url = openaiUrl ?? "https://api.openai.com/v1";
    return modelOf("openai", openai, { apiKey: openaiKey ?? NO_KEY, url, model });
  }
  if (ollamaUrl) {
    const { SEALOOP_OLLAMA_MODEL: model } = settings;
    return modelOf("ollama", ollama, { apiKey: NO_KEY, url: ollamaUrl, model });
  }
  return undefined;
}

function modelOf(provider: string, connect: Provider, place: Place): Model {
  const near = LOOPBACK.test(new URL(place.url).hostname);
  const connected = connect(place);
  connected.catch(() => {}); // whoever asks hears of it
  const say = async (prompt: Prompt, signal: AbortSignal) =>
    await Promise.race([connected.then((ask) => ask(prompt, signal)), aborted(signal)]);
  const [classifying, writing] = [restingAfterFailures(), restingAfterFailures()];
  return {
    ...{ provider, name: place.model },
    ask: (question, ms) =>
      classifying(ms, async (signal) => {
        const passages = question.passages.filter(({ kind }) => near || kind === "article");
        const said = await say(promptOf({ ...question, passages }), signal);
        return checked(said, new Set(passages.map(({ id }) => id)));
      }),
    write: (prompt, shape, ms, gone) =>
      writing(ms, async (signal) => {
        const { success, data } = shape.safeParse(await say(prompt, signal));
        if (!success) throw new NoAnswer("its answer has another shape");
        return data;
      }, gone),
  };
}

/** Lets it be asked, until it has failed some times in a row. */
function restingAfterFailures() {
  let failures = 0;
  let rests = 0;
  return async <T>(
    ms: number,
    ask: (signal: AbortSignal) => Promise<T>,
    gone?: AbortSignal,
  ): Promise<T> => {
    if (Date.now() < rests) {
      throw new NoAnswer(`it failed ${FAILURES} times in a row, and rests`, false);
    }
    if (gone?.aborted) throw new NoAnswer(GONE, false);
    const late = createTimeoutSignal(ms);
    try {
      const answer = await ask(gone ? AbortSignal.any([late, gone]) : late);
      failures = 0;
      return answer;
    } catch (error) {
      if (gone?.aborted) throw new NoAnswer(GONE);
      if (++failures % FAILURES === 0) rests = Date.now() + PAUSE_MS;
      throw error instanceof NoAnswer ? error : new NoAnswer(reasonOf(error, ms));
    }
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true })
  );
}

function checked(answer: unknown, given: ReadonlySet<string>): Answer {
  const { success, data } = ANSWER.safeParse(answer);
  if (!success) throw new NoAnswer("its answer has another shape");
  if (data.citations.some((id) => !given.has(id))) {
    throw new NoAnswer("it cites what it was not given");
  }
  return data;
}

/** Of an error only its kind and HTTP status are told, as its message may hold what was sent or said. */
function reasonOf(error: unknown, ms: number): string {
  const { name, status } = error as { name?: string; status?: unknown };
  if (name === "TimeoutError" || name === "AbortError" || name === "APIUserAbortError") {
    return `no answer within ${ms} ms`;
  }
  return typeof status === "number" ? `it answered ${status}` : `it failed (${name ?? "unknown"})`;
}
