/** Orders to an agent that reads a text: to call a tool of the platform, or to act because it is an agent. */

/** Addresses the reader as an agent, and wants something done. */
const TO_AGENT =
  /(?<![\w-])(?:(?:dear|hey|attention|note to|to)\s+(?:the\s+|any\s+|all\s+)?)?(?:ai|a\.i\.|llm|assistants?|agents?|language model|chat ?bot|copilot|claude|chatgpt|gemini)\b[^.!?\n]{0,40}?[:,!-]+\s*(?:please\s+|now\s+|you (?:must|should|will|have to)\s+|immediately\s+)*(?:call|invoke|run|execute|use|close|resolve|delete|send|email|post|fetch|open|approve|register|create|trigger|reveal|print|read|upload|forward|disable|stop)\b/i;
/** Orders to call a tool of the platform. */
const OWN_TOOL =
  /(?<![\w-])(?:(?:call|invoke|use|run|trigger)\s+(?:the\s+)?(?:(?:tool|function)\s+(?:named\s+|called\s+)?)?[`"'“]?|note to the agent:\s+)(?:itsm|ledger|mission|compliance|approve|trigger|dispatch|invoke|simulate|crm|rmm|mesh|soar|rag|grc|voice)[_.][a-z][a-z_.]+/i;

/** Tells whether a text orders an agent to do something. */
export function instructsAgent(text: string): boolean {
  return TO_AGENT.test(text) || OWN_TOOL.test(text);
}
