/** Counts what a model call has used: as the provider tells it, and else as an estimate from the texts. */
import type { ChatPart } from "../../../judgement/engine/mod.ts";
import type { TokenCounts } from "./prices.ts";
import type { Prompt } from "./prompt.ts";

/** Tokens that providers add around a prompt, and around each message: more than any of them does. */
const PROMPT_TOKENS = 64;
const MESSAGE_TOKENS = 32;
/** Bytes of a token, in an estimate. Of English text they are about four. */
const BYTES_PER_TOKEN = 4;
/** A count above it is no count. */
const MAX_COUNT = 1e9;
/** Names of models and reasons, as they may get into receipts. */
const CODE = /^[A-Za-z0-9][A-Za-z0-9._:\/@+-]{0,127}$/;

/** The use of one call. */
export interface Tally {
  /** Most tokens that the prompt can have: no tokenizer makes more tokens than there are bytes. */
  readonly maxInput: number;
  /** True until the first part. */
  readonly isEmpty: boolean;
  add(part: ChatPart): void;
  /** Notes that the provider has not begun. */
  nothingWasMade(): void;
  /** Undefined: the provider was asked, and nobody knows what it has made. */
  counts(): TokenCounts | undefined;
  /** True where the provider did not tell all counts. */
  readonly isEstimated: boolean;
  /** The provider's name of the model; undefined: it has told none that can be written down. */
  readonly model: string | undefined;
  readonly stopReason: string;
}

/** Begins to count. */
export function createTally({ system = "", messages }: Prompt): Tally {
  const promptBytes = [system, ...messages.map(({ content }) => content)]
    .reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
  const around = PROMPT_TOKENS + MESSAGE_TOKENS * messages.length;
  const told: { input?: number; output?: number; cached?: number } = {};
  let parts = 0;
  let answerBytes = 0;
  let isNothing = false;
  let model: string | undefined;
  let stopReason: string | undefined;
  const isTold = () =>
    isNothing || told.input !== undefined && told.output !== undefined && !isCut();
  const isCut = () => stopReason === undefined;

  return {
    maxInput: promptBytes + around,
    get isEmpty() {
      return parts === 0;
    },
    add(part) {
      parts++;
      answerBytes += Buffer.byteLength(part.text);
      told.input = countOf(part.inputTokens) ?? told.input;
      told.output = countOf(part.outputTokens) ?? told.output;
      told.cached = countOf(part.cachedTokens) ?? told.cached;
      if (part.model !== undefined && CODE.test(part.model)) model = part.model;
      if (part.stopReason !== undefined) {
        stopReason = CODE.test(part.stopReason) ? part.stopReason : "other";
      }
    },
    nothingWasMade: () => void (isNothing = true),
    counts() {
      if (isNothing) return { input: 0, output: 0, cached: 0 };
      if (parts === 0) return undefined;
      const input = told.input ?? Math.ceil(promptBytes / BYTES_PER_TOKEN) + around;
      const made = Math.ceil(answerBytes / BYTES_PER_TOKEN);
      const output = isCut() ? Math.max(made, told.output ?? 0) : told.output ?? made;
      return { input, output, cached: Math.min(input, told.cached ?? 0) };
    },
    get isEstimated() {
      return !isTold();
    },
    get model() {
      return model;
    },
    get stopReason() {
      return stopReason ?? "cut_off";
    },
  };
}

function countOf(count: number | undefined): number | undefined {
  return Number.isSafeInteger(count) && count! >= 0 && count! <= MAX_COUNT ? count : undefined;
}
