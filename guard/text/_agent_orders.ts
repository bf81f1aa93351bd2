/** Orders to an agent that reads a text: to use a tool of the platform's, or to act because of what it is. */

/** Somebody speaks to whoever reads it by what that is, and wants something done. */
const TO_AGENT =
  /(?<![\w-])(?:(?:dear|hey|attention|note to|to)\s+(?:the\s+|any\s+|all\s+)?)?(?:ai|a\.i\.|llm|assistants?|agents?|language model|chat ?bot|copilot|claude|chatgpt|gemini)\b[^.!?\n]{0,40}?[:,!-]+\s*(?:please\s+|now\s+|you (?:must|should|will|have to)\s+|immediately\s+)*(?:call|invoke|run|execute|use|close|resolve|delete|send|email|post|fetch|open|approve|register|create|trigger|reveal|print|read|upload|forward|disable|stop)\b/i;
/** A tool of the platform's is to be called. */
const OWN_TOOL =
  /(?<![\w-])(?:(?:call|invoke|use|run|trigger)\s+(?:the\s+)?(?:(?:tool|function)\s+(?:named\s+|called\s+)?)?[`"'“]?|note to the agent:\s+)(?:itsm|ledger|mission|compliance|approve|trigger|dispatch|invoke|simulate|crm|rmm|mesh|soar|rag|grc|voice)[_.][a-z][a-z_.]+/i;

/** Whether a text orders an agent to do something. */
export function instructsAgent(text: string): boolean {
  return TO_AGENT.test(text) || OWN_TOOL.test(text);
}
