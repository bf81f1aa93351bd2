import type { EarlierTurn } from "../../store/agents/mod.ts";
import { readPromptWords } from "../reasoning/mod.ts";

/** Words by which a message refers to what was said before. */
const REFERENCE = new RegExp(
  `\\b(?:${
    [
      "it",
      "its",
      "this",
      "that",
      "these",
      "those",
      "they",
      "them",
      "their",
      "there",
      "same",
      "again",
      "then",
    ].join("|")
  })\\b`,
  "i",
);

/** A message with what it refers to. */
export interface PromptInContext {
  readonly prompt: string;
  /** Names and ids from earlier messages that it is taken to be about. */
  readonly assumed: readonly string[];
}

/**
 * Adds to a message what it refers to: the message that was not understood before it, or the subjects of the last message
 * that named any.
 *
 * @param earlier newest first
 * @param knownServices names of all services
 */
export function promptInContext(
  text: string,
  earlier: readonly EarlierTurn[],
  knownServices: readonly string[],
): PromptInContext {
  if (subjectsOf(text, knownServices).length > 0) return { prompt: text, assumed: [] };
  if (earlier[0]?.outcome === "input_required") {
    return { prompt: `${earlier[0].text}\n${text}`, assumed: [] };
  }
  if (!REFERENCE.test(text)) return { prompt: text, assumed: [] };
  const assumed = earlier.map((turn) => subjectsOf(turn.text, knownServices))
    .find((subjects) => subjects.length > 0) ?? [];
  const prompt = assumed.length > 0 ? `${text}\n(about ${assumed.join(", ")})` : text;
  return { prompt, assumed };
}

function subjectsOf(text: string, knownServices: readonly string[]): string[] {
  const { services, tickets, receipts } = readPromptWords(text, knownServices);
  return [...services, ...tickets, ...receipts];
}
