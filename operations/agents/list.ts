import type { Client } from "@temporalio/client";
import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import type { Config } from "../../config.ts";
import { TASK_QUEUE } from "../../contract/domain/mod.ts";
import { EngineUnavailable } from "../../judgement/engine/mod.ts";
import { listPeers, openPeer, type Peer, type PeerCard } from "../../integrations/peers/mod.ts";
import { countWaitingQuestions } from "../../store/agents/mod.ts";
import { AgentId, listBuiltInAgents } from "./_agents.ts";

/** Longest wait for Temporal's answer. */
const PROBE_TIMEOUT_MS = 3_000;
/** A worker polls at least once a minute; Temporal lists one for longer after it has gone. */
const MAX_POLL_AGE_MS = 90_000;
/** @see temporal.api.enums.v1.TaskQueueType */
const WORKFLOW_TASKS = 1;

const Agent = z.object({
  agent_id: AgentId,
  name: z.string(),
  kind: z.enum(["crew", "reasoning", "a2a"]).describe(
    "crew: one of the six that diagnose incidents; reasoning: the pipeline; a2a: of another organization",
  ),
  skills: z.array(z.string()).describe("What it can do"),
  state: z.enum(["idle", "answering", "unreachable"]).describe(
    "Measured by this call. answering: a question of your tenant waits for its answer; unreachable: no worker takes its " +
      "questions, or what it needs does not answer",
  ),
});

/** Agents that people can talk to. */
export const agentList = operation({
  name: "agents.list",
  group: "people",
  summary: "List the agents that one can talk to, with their states",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({ total: z.number().int(), agents: z.array(Agent) }),
  rest: { agents_list: "GET /v1/agents/list" },
  presentation: { errors: ["NotConfigured"] },
  example: {
    input: {},
    output: {
      total: 1,
      agents: [{
        agent_id: "metrics",
        name: "Crew: metrics",
        kind: "crew",
        skills: ["probe services now", "compare with their last probes"],
        state: "idle",
      }],
    },
  },
  async run(_, context) {
    const [waiting, isReachable] = await Promise.all([
      countWaitingQuestions(context.store.db),
      isPipelineReachable(context),
    ]);
    const ownState = stateOf(isReachable);
    const own = listBuiltInAgents().map(({ id, name, kind, skills }) => ({
      agent_id: id,
      name,
      kind,
      skills,
      state: ownState(waiting.get(id)),
    }));
    const agents = [...own, ...await describePeers(context, waiting)];
    return { total: agents.length, agents };
  },
});

function stateOf(isReachable: boolean) {
  return (waiting = 0): z.output<typeof Agent>["state"] => {
    if (!isReachable) return "unreachable";
    return waiting > 0 ? "answering" : "idle";
  };
}

/** Describes the agents of other organizations, each by its card. */
async function describePeers(
  { config, store }: Context,
  waiting: ReadonlyMap<string, number>,
): Promise<z.output<typeof Agent>[]> {
  return await Promise.all(
    listPeers(config, store.tenant).map(async (peer) => {
      const card = await readCard(config, peer);
      return {
        agent_id: peer.id,
        name: peer.name,
        kind: "a2a" as const,
        skills: [...card?.skills ?? []],
        state: stateOf(card !== undefined)(waiting.get(peer.id)),
      };
    }),
  );
}

async function readCard(config: Config, peer: Peer): Promise<PeerCard | undefined> {
  try {
    return await openPeer(config, peer).describe();
  } catch {
    return undefined;
  }
}

/** Returns whether a worker takes questions, and the engine, without which nothing is answered, is there. */
async function isPipelineReachable({ temporal, engine }: Context): Promise<boolean> {
  const [isWorked, isJudging] = await Promise.all([
    temporal().then(hasWorker).catch(() => false),
    engine.health().then(() => true, (error) => {
      if (error instanceof EngineUnavailable) return false;
      throw error;
    }),
  ]);
  return isWorked && isJudging;
}

async function hasWorker(client: Client): Promise<boolean> {
  const { pollers } = await client.withDeadline(
    Date.now() + PROBE_TIMEOUT_MS,
    () =>
      client.workflowService.describeTaskQueue({
        namespace: client.options.namespace,
        taskQueue: { name: TASK_QUEUE.itsm },
        taskQueueType: WORKFLOW_TASKS,
      }),
  );
  return (pollers ?? []).some(({ lastAccessTime }) =>
    Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1_000 < MAX_POLL_AGE_MS
  );
}
