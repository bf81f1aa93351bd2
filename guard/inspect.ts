import { hiddenIn, ordersAnAgent, ordersTheJudge, tricksIn, viewsOf } from "./text/mod.ts";

/**
 * Names what in a text from outside is meant to steer an agent that reads it, in every reading of the text: encoded,
 * hidden, spelt with lookalikes. A sentence that only reports such text is not meant.
 *
 * @param text at most some ten thousand characters
 * @returns each once: `overrides instructions`, `changes the role`, `hides text`, …
 */
export function findInjection(text: string): readonly string[] {
  const found = new Set<string>();
  if (hiddenIn(text).some(({ kind, sure }) => sure && HIDES.has(kind))) found.add("hides text");
  for (const { text: reading, by } of viewsOf(text)) {
    for (const { trick, reported } of tricksIn(reading, by.every((way) => NEAR.has(way)))) {
      if (!reported) found.add(trick);
    }
    if (ordersAnAgent(reading) || ORDERS_TOOL.test(reading)) found.add("orders a tool");
    if (!by.includes("digits for letters") && ordersTheJudge(reading)) {
      found.add("dictates the verdict");
    }
  }
  return [...found];
}

/** Any tool is to be called, whatever its name. */
const ORDERS_TOOL =
  /(?<![\w-])(?:call|invoke|use|run|trigger)\s+(?:the\s+)?(?:tool|function|mcp tool)\s+(?:named\s+|called\s+)?[`"'“]?[a-z][\w.]{2,}/i;
/** Ways that leave a text what it was, but for single letters. */
const NEAR = new Set(["digits for letters", "lookalike letters"]);
const HIDES = new Set(["tags", "bidi", "selectors"]);
