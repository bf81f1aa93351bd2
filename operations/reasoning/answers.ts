import { z } from "zod";
import { composedText } from "../../contract/mod.ts";
import { operation, runForResult } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import {
  NODES,
  type ReasoningRequest,
  type ReasoningResult,
  type StartedRun,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { EXAMPLE_RUN_ID, text } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";
import { authorInReceipt, authorship, exampleAuthorship, Source } from "./_authorship.ts";

const Step = z.object({
  node: z.enum(NODES),
  state: z.enum(["done", "skipped", "failed"]),
  seconds: z.number().min(0),
  found: z.string().describe("Result of the node, a sentence"),
});

/** Answers a question from the platform's records. */
export const answerQuestion = operation({
  name: "reasoning.invoke",
  group: "platform",
  summary: "Answer a question about incidents, services or receipts from the platform's records",
  description:
    "Runs a pipeline of seven nodes: intake, safety, retrieve, plan, act, verify, answer. It only reads: to repair a fault, " +
    "call itsm_run_loop. Every sentence of the answer is supported by records that were just read, and [n] names the " +
    "citation. If a model is configured, it writes the answer, and verify checks the answer against the records; " +
    "`written_by` names the author. A prompt that names nothing known is answered with `input_required` and what is missing.",
  effect: "run",
  access: "key",
  input: z.object({
    prompt: text(1, 8000).describe(
      "Free text; names of services and ids of tickets and receipts are recognized",
    ),
  }),
  output: z.object({
    workflow_id: z.string().describe("Workflow of the run, for the workflow operations"),
    run_id: z.string(),
    outcome: z.enum(["answered", "refused", "input_required"]),
    answer: composedText,
    citations: z.array(Source).describe("In the order of the numbers in the answer"),
    ...authorship,
    steps: z.array(Step),
  }),
  tool: { invoke_reasoning_pipeline: FULL },
  presentation: {
    tell: ({ answer, citations }) => [
      answer,
      ...citations.map(({ id, kind, title }: z.output<typeof Source>, n: number) =>
        `[${n + 1}] ${kind} ${id}: ${title}`
      ),
    ],
    toolText: {
      invoke_reasoning_pipeline:
        "For a question in plain words about an incident, a service or a receipt: name it, or the answer asks which. It only reads, and each sentence cites a record; itsm_run_loop repairs.",
    },
    hints: { destructive: false },
    untrusted: true,
    errors: ["Unavailable"],
  },
  governance: { rule: "sandbox-and-judgement" },
  durability: {
    startsWorkflow: WORKFLOW.reasoning,
    longRunning: { outcome: toOutput },
    receipt: authorInReceipt,
    startsRun: "result",
  },
  example: {
    input: { prompt: "billing is down" },
    output: {
      workflow_id: "reasoning-5f0c21ab9d3e",
      run_id: EXAMPLE_RUN_ID,
      outcome: "answered",
      answer: "billing (http) fails its health check just now: refused. [1]",
      citations: [{ id: "billing", kind: "service", title: "Service billing" }],
      ...exampleAuthorship,
      steps: NODES.map((node) => ({ node, state: "done", seconds: 0.01, found: "…" })),
    },
  },
  run: async ({ prompt }, context) => {
    const request: ReasoningRequest = { prompt, requested_by: `key:${context.caller.keyId}` };
    return await runForResult(context, {
      type: WORKFLOW.reasoning,
      workflowId: `reasoning-${idOfCall(context.decisionId, 12)}`,
      request,
      summary: "Question to the platform",
    }, toOutput);
  },
});

function toOutput(run: StartedRun, result: ReasoningResult) {
  return { ...run, ...result };
}
