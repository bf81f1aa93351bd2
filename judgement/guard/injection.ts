import { decodeViews, findHidden, findTricks, instructsAgent, instructsJudge } from "./text/mod.ts";

/** An order to call a tool, whatever its name. */
const TOOL_CALL =
  /(?<![\w-])(?:call|invoke|use|run|trigger)\s+(?:the\s+)?(?:tool|function|mcp tool)\s+(?:named\s+|called\s+)?[`"'“]?[a-z][\w.]{2,}/i;
/** Decodings that only replace single letters. */
const LETTER_DECODINGS = new Set(["digits for letters", "lookalike letters"]);
const HIDING_KINDS = new Set(["tags", "bidi", "selectors"]);

/**
 * Names the attempts in an outside text to steer an agent that reads it, in every reading of the text: encoded, hidden,
 * spelt with lookalikes. A sentence that only reports such an attempt is left out.
 *
 * @param text at most some ten thousand characters
 * @returns each name once: `overrides instructions`, `changes the role`, `hides text`, …
 */
export function findInjection(text: string): readonly string[] {
  const found = new Set<string>();
  if (findHidden(text).some(({ kind, certain }) => certain && HIDING_KINDS.has(kind))) {
    found.add("hides text");
  }
  for (const { text: reading, by } of decodeViews(text)) {
    const mayReport = by.every((decoding) => LETTER_DECODINGS.has(decoding));
    for (const { trick, reported } of findTricks(reading, mayReport)) {
      if (!reported) found.add(trick);
    }
    if (instructsAgent(reading) || TOOL_CALL.test(reading)) found.add("orders a tool");
    if (!by.includes("digits for letters") && instructsJudge(reading)) {
      found.add("dictates the verdict");
    }
  }
  return [...found];
}

/** A prompt gives a model its role, and tells it which tools to use. */
const USUAL_IN_PROMPTS = new Set(["changes the role", "orders a tool"]);

/** Names the attempts in a prompt to steer a model that {@linkcode findInjection} finds and that prompts usually lack. */
export function findPromptInjection(prompt: string): readonly string[] {
  return findInjection(prompt).filter((name) => !USUAL_IN_PROMPTS.has(name));
}
