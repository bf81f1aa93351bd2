import { sleep } from "@temporalio/workflow";
import {
  type AgentAnswer,
  describeFailure,
  type PeerOutcome,
  type PeerRequest,
} from "../contract/domain/mod.ts";
import { actToTheEnd } from "./_act.ts";
import { BY_RULES } from "./_drafts.ts";
import { ONE_ATTEMPT, perform, QUICK, SEAL } from "./_options.ts";
import { currentRun } from "./_run.ts";

/** Pauses between looks at a task of the agent, in seconds. After the last one it is not waited for any more. */
const PAUSES = [1, 2, 5, 10, 20, 30, 60, 120, 300];
const UNKNOWN: PeerOutcome = { state: "unknown", code: "no_answer", text: "" };

/**
 * Sends one message to an agent of another organization, and waits for its reply.
 *
 * It acts outside: the intent is sealed first, there is one attempt, and what became of it is sealed. The agent's task, if it
 * opens one, is then only read.
 */
export async function peerMessage(request: PeerRequest): Promise<AgentAnswer> {
  const { agent, question_id } = request;
  const run = currentRun();
  const sent = await actToTheEnd({
    intend: () => perform(SEAL, `Seals that ${agent} is asked`).intendPeerMessage(request, run),
    act: () => perform(ONE_ATTEMPT, `Asks ${agent}, once`).sendPeerMessage(request),
    prove: async (outcome = UNKNOWN) => outcome, // its answer is all that there is
    async end(outcome) {
      const { state, code } = outcome;
      await perform(SEAL, `Seals what became of ${question_id}: ${state}`)
        .sealPeerOutcome(request, run, { state, code });
      return outcome;
    },
  });
  const reply = sent.taskId ? await followTask(agent, sent.taskId, sent) : sent;
  return {
    ...BY_RULES,
    written_by: "peer",
    provider: "a2a",
    outcome: outcomeOf(reply),
    answer: describe(agent, reply),
    citations: [],
  };
}

async function followTask(agent: string, id: string, sent: PeerOutcome): Promise<PeerOutcome> {
  let reply = sent;
  for (const seconds of PAUSES) {
    if (!reply.taskId) break;
    await sleep(seconds * 1_000);
    reply = await perform(QUICK, `Looks at the task of ${agent}`).readPeerTask({ agent, id }) ??
      reply;
  }
  return reply;
}

function outcomeOf({ state, needsMore }: PeerOutcome): AgentAnswer["outcome"] {
  if (state !== "done") return state;
  return needsMore ? "input_required" : "answered";
}

function describe(agent: string, { state, code, text, taskId }: PeerOutcome): string {
  if (state === "not_done") {
    return `${agent} did not get the message: ${describeFailure(code)}. Ask again later.`;
  }
  if (state === "unknown") {
    return `Nobody can tell whether ${agent} got the message (${
      describeFailure(code)
    }). It is not sent again.`;
  }
  if (taskId) return `${agent} has the message and still works on it.`;
  return text || `${agent} has replied without a text: ${describeFailure(code)}.`;
}
