/** Agents that examine an incident; the verifier is last. */
export const AGENTS = ["triage", "logs", "metrics", "topology", "change", "verifier"] as const;

/** One of {@linkcode AGENTS}. */
export type AgentName = typeof AGENTS[number];

/** Kind of an agent: of the crew, the reasoning pipeline, or one of another organization that the operator knows. */
export type AgentKind = "crew" | "reasoning" | "a2a";

/** The agents of the platform itself, with what each can do. */
export const BUILT_IN_AGENTS = {
  triage: ["classify a report", "find the services that it concerns"],
  logs: ["read the newest errors in the logs of services", "read what the log detector found"],
  metrics: ["probe services now", "compare with their last probes"],
  topology: ["find the dependencies of services that are down"],
  change: ["find what was repaired or opened within a day", "find changes to the platform"],
  verifier: ["probe suspects again", "object to what does not hold"],
  reasoning: [
    "answer from tickets, services, repairs, approvals and receipts",
    "find what is known of a fault",
  ],
} as const satisfies Readonly<Record<AgentName | "reasoning", readonly string[]>>;

/** Id of an agent of the platform itself. */
export type BuiltInAgent = keyof typeof BUILT_IN_AGENTS;

/** Returns whether an agent is one of the platform itself. */
export function isBuiltInAgent(id: string): id is BuiltInAgent {
  return Object.hasOwn(BUILT_IN_AGENTS, id);
}

/** Returns the kind of an agent. */
export function kindOfAgent(id: string): AgentKind {
  if (!isBuiltInAgent(id)) return "a2a";
  return id === "reasoning" ? "reasoning" : "crew";
}
