/** Orders to an agent that reads a text: to call a tool of the platform, or to act because it is an agent. */
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("agent_orders", [
  "to_agent",
  "own_tool",
]);

/** Addresses the reader as an agent, and wants something done. */
const TO_AGENT = expressions.to_agent;

/** Orders to call a tool of the platform. */
const OWN_TOOL = expressions.own_tool;

/** Tells whether a text orders an agent to do something. */
export function instructsAgent(text: string): boolean {
  return TO_AGENT.test(text) || OWN_TOOL.test(text);
}
