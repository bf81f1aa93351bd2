import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  ParentClosePolicy,
  setCurrentDetails,
  setHandler,
  startChild,
} from "@temporalio/workflow";
import {
  type AgentAnswer,
  type AgentName,
  askUpdate,
  type ConversationRequest,
  kindOfAgent,
  type Question,
  type RunId,
} from "../contract/domain/mod.ts";
import { BY_RULES } from "./_drafts.ts";
import { perform, QUICK, SEAL } from "./_options.ts";
import { currentRun, inheritTenant } from "./_run.ts";
import { peerMessage } from "./peer_message.ts";
import { reasoning } from "./reasoning.ts";

/**
 * A conversation of one caller with one agent. Its id is `conversation-<conversation id>`.
 *
 * The questions are in the database, in their order; an update tells the run of a new one. Each is answered by a run of its
 * own, and each answer is stored and sealed once. The run ends when nobody has asked for a while, and the next question
 * starts another.
 */
export async function conversation(request: ConversationRequest): Promise<{ answers: number }> {
  const { conversation_id, agent, idle_seconds, max_answers } = request;
  let hasNews = true; // a question started this run
  let answers = 0;
  setHandler(askUpdate, () => {
    hasNews = true;
    return currentRun();
  });
  while (await condition(() => hasNews, idle_seconds * 1_000)) {
    hasNews = false;
    for (let question = await next(); question; question = await next()) {
      show(`answers ${question.question_id}`);
      const { answer, run } = await answerTo(request, question);
      await perform(SEAL, `Stores and seals the answer to ${question.question_id}`)
        .giveAnswer({ conversation_id, agent, question, answer, run });
      if (++answers < max_answers) continue;
      await condition(allHandlersFinished);
      await continueAsNew<typeof conversation>(request);
    }
    show("waits for a question");
  }
  await condition(allHandlersFinished);
  return { answers };

  function next(): Promise<Question | null> {
    return perform(QUICK, "Takes the next question").takeQuestion({ conversation_id, agent });
  }

  function show(state: string): void {
    setCurrentDetails(`**${agent}** ${state} · ${answers} answers in this run`);
  }
}

/** A run that answers a question. Its steps are in its own history. */
interface AnswerRun {
  readonly workflowId: string;
  readonly firstExecutionRunId: string;
  result(): Promise<AgentAnswer & { readonly steps?: unknown }>;
}

/** Has the agent answer, in a run of its own. */
async function answerTo(
  request: ConversationRequest,
  question: Question,
): Promise<{ readonly answer: AgentAnswer; readonly run: RunId }> {
  const child = await startAnswer(request, question);
  const run = { workflow_id: child.workflowId, run_id: child.firstExecutionRunId };
  try {
    const { steps: _, ...answer } = await child.result();
    return { answer, run };
  } catch (error) {
    const isOurs = isCancellation(error) && CancellationScope.current().consideredCancelled;
    if (isOurs) throw error;
    return { answer: failedAnswer(isCancellation(error)), run };
  }
}

function startAnswer(
  { conversation_id, agent, key_id }: ConversationRequest,
  { question_id, attempt, prompt }: Question,
): Promise<AnswerRun> {
  const requested_by = `key:${key_id}`;
  const options = {
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    typedSearchAttributes: [inheritTenant()],
    staticSummary: `${agent} answers ${question_id}`,
  };
  const kind = kindOfAgent(agent);
  if (kind === "a2a") {
    return startChild(peerMessage, {
      ...options,
      workflowId: `peer-${question_id}-${attempt}`,
      args: [{ conversation_id, question_id, agent, requested_by }],
    });
  }
  return startChild(reasoning, {
    ...options,
    workflowId: `reasoning-${question_id}-${attempt}`,
    args: [{ prompt, requested_by, ...(kind === "crew" ? { agent: agent as AgentName } : {}) }],
  });
}

function failedAnswer(isCancelled: boolean): AgentAnswer {
  const reason = isCancelled ? "somebody has cancelled its run" : "its run failed";
  return {
    ...BY_RULES,
    outcome: "failed",
    answer: `I can't answer this: ${reason}. Ask again.`,
    citations: [],
  };
}
