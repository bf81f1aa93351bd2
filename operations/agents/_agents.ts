import { z } from "zod";
import type { Platform } from "../../calls/mod.ts";
import { describeUnknownName, Problem } from "../../contract/mod.ts";
import {
  type AgentKind,
  BUILT_IN_AGENTS,
  isBuiltInAgent,
  kindOfAgent,
} from "../../contract/domain/mod.ts";
import { listPeers } from "../../integrations/peers/mod.ts";

/** Id of an agent. */
export const AgentId = z.string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, "Expected a lower case letter, and then letters, digits or -")
  .describe("Id of the agent, as the list of agents has it");

/** An agent that one can talk to. */
export interface KnownAgent {
  readonly id: string;
  readonly name: string;
  readonly kind: AgentKind;
  readonly skills: readonly string[];
}

/** Returns the agents of the platform itself. */
export function listBuiltInAgents(): KnownAgent[] {
  return Object.entries(BUILT_IN_AGENTS).map(([id, skills]) => ({
    id,
    name: id === "reasoning" ? "Reasoning pipeline" : `Crew: ${id}`,
    kind: kindOfAgent(id),
    skills,
  }));
}

/** @throws {Problem} `NotFound`: there is no such agent; `NotConfigured`: the file of peers is wrong */
export function requireAgent(
  { config, store }: Pick<Platform, "config" | "store">,
  id: string,
): void {
  if (isBuiltInAgent(id)) return;
  const peers = listPeers(config, store.tenant).map((peer) => peer.id);
  if (peers.includes(id)) return;
  const names = [...listBuiltInAgents().map((agent) => agent.id), ...peers];
  const otherwise = "GET /v1/agents/list lists them";
  throw new Problem("NotFound", describeUnknownName("agent", id, names, otherwise));
}
