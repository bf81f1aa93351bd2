import { setTimeout as sleep } from "node:timers/promises";
import {
  NODES,
  nodesQuery,
  type ReasoningResult,
  type StartedRun,
  TASK_QUEUE,
  WORKFLOW,
} from "../../domain/mod.ts";
import type { reasoning } from "../../workflows/mod.ts";
import type { WorkflowHandle } from "@temporalio/client";
import { z } from "zod";
import { type LongRunning, Problem } from "../../contract/mod.ts";
import { FULL } from "../_audience.ts";
import { characters } from "../_shapes.ts";
import { authorInReceipt, AUTHORSHIP, authorshipOf, EXAMPLE_AUTHORSHIP } from "./_written.ts";
import { type Context, mapTemporalErrors, operation, waitForRun } from "../../calls/mod.ts";
import { idOfCall, recoverOutcome, recoverRun } from "../../calls/recover/mod.ts";

/** Longest that a caller is kept waiting. */
const WAIT_SECONDS = 45;
const LOOK_EVERY_MS = 200;

/** What an answer rests on. */
export const SourceShape = z.object({
  id: z.string(),
  kind: z.string().describe(
    "article, incident, ticket, receipt, service, approval, or platform for its own records",
  ),
  title: z.string(),
  sha256: z.string().optional().describe("Of the cited text or entry, where it has one"),
}).meta({ id: "Source" });

const Step = z.object({
  node: z.enum(NODES),
  state: z.enum(["done", "skipped", "failed"]),
  seconds: z.number().min(0),
  found: z.string().describe("In a sentence, what this node found"),
});

const reasoningOf = (decisionId: string | undefined) => `reasoning-${idOfCall(decisionId, 12)}`;
const outcome: LongRunning["outcome"] = (given, result) => ({
  ...given,
  ...answered(result as ReasoningResult),
});

/** Answers a prompt from what the platform knows. */
export const reason = operation({
  name: "reasoning.invoke",
  group: "platform",
  summary: "Answer a question about incidents, services or receipts from what the platform knows",
  description:
    "Seven nodes: intake, safety, retrieve, plan, act, verify, answer. It only reads: to have something repaired, " +
    "call itsm_run_loop. Every sentence of the answer rests on what was read from the platform a moment ago, and [n] " +
    "names the citation. Where a model is configured, it writes the answer and verify holds it against what was read; " +
    "`written_by` says who wrote it. A prompt that names nothing comes back as `input_required`, with what is missing.",
  effect: "run",
  startsWorkflow: WORKFLOW.reasoning,
  hints: { destructive: false },
  access: "key",
  untrusted: true,
  input: z.object({
    prompt: characters(1, 8000).describe(
      "In any words; names of services, ticket and receipt ids are found in it",
    ),
  }),
  output: z.object({
    workflow_id: z.string().describe("The run, for the Web UI and the workflow operations"),
    run_id: z.string(),
    outcome: z.enum(["answered", "refused", "input_required"]),
    answer: z.string(),
    citations: z.array(SourceShape).describe("In the order of the numbers in the answer"),
    ...AUTHORSHIP,
    steps: z.array(Step),
  }),
  tool: { invoke_reasoning_pipeline: FULL },
  longRunning: { outcome },
  receipt: authorInReceipt,
  errors: ["Unavailable"],
  example: {
    input: { prompt: "billing is down" },
    output: {
      workflow_id: "reasoning-5f0c21ab9d3e",
      run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10",
      outcome: "answered",
      answer: "billing (http) fails its health check just now: refused. [1]",
      citations: [{ id: "billing", kind: "service", title: "Service billing" }],
      ...EXAMPLE_AUTHORSHIP,
      steps: NODES.map((node) => ({ node, state: "done" as const, seconds: 0.01, found: "…" })),
    },
  },
  recover: (call, platform) =>
    recoverRun(platform, reasoningOf(call.decisionId), call, recoverOutcome(outcome)),
  run: async ({ prompt }, context) => {
    const client = await context.temporal();
    const workflowId = reasoningOf(context.decisionId);
    const handle = await mapTemporalErrors(
      client.workflow.start<typeof reasoning>(WORKFLOW.reasoning, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId,
        args: [{ prompt, requested_by: `key:${context.caller.keyId}` }],
        staticSummary: "Question that was asked",
      }),
    );
    const run = { workflow_id: workflowId, run_id: handle.firstExecutionRunId };
    if (context.detached) return startedOnly(run);
    const result = await ended(context, handle, async (tell) => {
      const done = await handle.query(nodesQuery);
      const last = done.at(-1);
      if (last) tell(done.length, NODES.length, `${last.node}: ${last.found}`);
    });
    return { ...run, ...answered(result) };
  },
});

const answered = ({ outcome, answer, citations, steps, ...rest }: ReasoningResult) => ({
  ...{ outcome, answer },
  ...authorshipOf(rest),
  citations: [...citations],
  steps: [...steps],
});

/** All that a caller is given who follows the run by itself; `long` makes the output of its end. */
export function startedOnly(run: StartedRun): never {
  return run as never;
}

/**
 * Waits for the end of a run; a caller who leaves ends the run as well.
 *
 * @param look tells the caller how far the run is; called again and again
 */
export async function ended<T>(
  context: Context,
  handle: WorkflowHandle & { result(): Promise<T> },
  look: (tell: Context["progress"]) => Promise<void>,
): Promise<T> {
  const over = new AbortController();
  const looking = watch(look, growing(context.progress, over.signal), over.signal);
  try {
    const client = await context.temporal();
    const end = await mapTemporalErrors(waitForRun(client, handle, WAIT_SECONDS, context.signal));
    if (end && "result" in end) return end.result as T;
    if (end) throw new Problem("Unavailable", `The run failed: ${end.failure.message}`);
    await handle.cancel().catch(() => {});
    if (context.signal.aborted) throw new Problem("Cancelled", "The caller has cancelled");
    throw new Problem("Unavailable", `There was no answer within ${WAIT_SECONDS} s`);
  } finally {
    over.abort();
    await looking;
  }
}

/** Progress has to grow, and none is told after the end. */
function growing(tell: Context["progress"], over: AbortSignal): Context["progress"] {
  let most = 0;
  return (done, total, message) => {
    if (done <= most || over.aborted) return;
    most = done;
    tell(done, total, message);
  };
}

async function watch(
  look: (tell: Context["progress"]) => Promise<void>,
  tell: Context["progress"],
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    await sleep(LOOK_EVERY_MS, undefined, { signal: over }).catch(() => {});
    if (!over.aborted) await look(tell).catch(() => {});
  }
}
