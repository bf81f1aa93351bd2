import { hiddenIn, ordersTheJudge, tricksIn, viewsOf } from "./text/mod.ts";

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
    if (ORDERS_AGENT.test(reading) || ORDERS_TOOL.test(reading)) found.add("orders a tool");
    if (!by.includes("digits for letters") && ordersTheJudge(reading)) {
      found.add("dictates the verdict");
    }
  }
  return [...found];
}

/** Somebody speaks to whoever reads it by what that is, and wants something done. */
const ORDERS_AGENT =
  /(?<![\w-])(?:(?:dear|hey|attention|note to|to)\s+(?:the\s+|any\s+|all\s+)?)?(?:ai|a\.i\.|llm|assistants?|agents?|language model|chat ?bot|copilot|claude|chatgpt|gemini)\b[^.!?\n]{0,40}?[:,!-]+\s*(?:please\s+|now\s+|you (?:must|should|will|have to)\s+|immediately\s+)*(?:call|invoke|run|execute|use|close|resolve|delete|send|email|post|fetch|open|approve|register|create|trigger|reveal|print|read|upload|forward|disable|stop)\b/i;
/** A tool is to be called. */
const ORDERS_TOOL =
  /(?<![\w-])(?:call|invoke|use|run|trigger)\s+(?:the\s+)?(?:(?:tool|function|mcp tool)\s+(?:named\s+|called\s+)?[`"'“]?[a-z][\w.]{2,}|[`"'“]?(?:itsm|ledger|mission|compliance|approve|trigger|dispatch|invoke|simulate|crm|rmm|mesh|soar|rag|grc|voice)[_.][a-z][a-z_.]+)/i;
/** Ways that leave a text what it was, but for single letters. */
const NEAR = new Set(["digits for letters", "lookalike letters"]);
const HIDES = new Set(["tags", "bidi", "selectors"]);
