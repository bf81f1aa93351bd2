import { z } from "zod";
import { AGENTS, type CrewResult, reportsQuery, TASK_QUEUE, WORKFLOW } from "../../domain/mod.ts";
import type { crew } from "../../workflows/mod.ts";
import {
  authorInReceipt,
  AUTHORSHIP,
  authorshipOf,
  CLAIM,
  EXAMPLE_AUTHORSHIP,
} from "./_written.ts";
import type { LongRunning } from "../../contract/mod.ts";
import { FULL } from "../_audience.ts";
import { ended, SourceShape, startedOnly } from "./reasoning.ts";
import { words } from "../_shapes.ts";
import { mapTemporalErrors, operation } from "../../calls/mod.ts";
import { idOfCall, recoverOutcome, recoverRun } from "../../calls/recover/mod.ts";

const Report = z.object({
  agent: z.enum(AGENTS),
  round: z.number().int().describe("From 1; 2: looked at what the verifier named"),
  says: z.array(z.string()).describe("What it found, in sentences"),
  sources: z.array(SourceShape),
  suspects: z.array(z.object({ service: z.string(), weight: z.number(), why: z.string() })),
});

const crewOf = (decisionId: string | undefined) => `crew-${idOfCall(decisionId, 12)}`;
const outcome: LongRunning["outcome"] = (given, result) => ({
  ...given,
  ...diagnosed(result as CrewResult),
});

/** Has six agents diagnose an incident. */
export const dispatchCrew = operation({
  name: "crew.dispatch",
  group: "platform",
  summary: "Have six agents diagnose an incident, and give one diagnosis with citations",
  description:
    "triage, logs, metrics, topology and change look, each with tools of its own; the verifier measures again, " +
    "objects, and may send them to look elsewhere. Where a model is configured, it writes the diagnosis from what they " +
    "found, and the verifier holds each sentence against what it cites; `written_by` says who wrote it. They only look: " +
    "to have it repaired, call itsm_run_loop with the `cause`.",
  effect: "run",
  startsWorkflow: WORKFLOW.crew,
  hints: { destructive: false },
  access: "key",
  untrusted: true,
  input: z.object({
    incident: words(1, 8000).describe(
      "What is wrong, in any words; names of services are found in it",
    ),
  }),
  output: z.object({
    workflow_id: z.string(),
    run_id: z.string(),
    diagnosis: z.string().describe("Where a model wrote it, [n] names the piece of `evidence`"),
    cause: z.string().nullable().describe(
      "Service that is held for the cause; null: none can be named",
    ),
    confidence: z.number().describe(
      "0 to 1: how much of what was found speaks for it; of a model's at most 0.15 more than that",
    ),
    ...AUTHORSHIP,
    steps: z.array(CLAIM).describe("What led a model to it; empty where the rules wrote it"),
    evidence: z.array(z.object({ n: z.number().int(), from: z.string(), text: z.string() }))
      .describe("What the numbers name; empty where the rules wrote it"),
    category: z.string().nullable().describe("null: the engine is away"),
    severity: z.string().nullable(),
    recommended_action: z.string().nullable(),
    citations: z.array(SourceShape),
    objections: z.array(z.string()).describe("What the verifier still has against it"),
    agents: z.array(Report),
  }),
  tool: { dispatch_crew_incident: FULL },
  longRunning: { outcome },
  receipt: authorInReceipt,
  errors: ["Unavailable"],
  example: {
    input: { incident: "billing is down" },
    output: {
      workflow_id: "crew-5f0c21ab9d3e",
      run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10",
      diagnosis: "The cause is most likely billing: it is named; it fails its health check.",
      cause: "billing",
      confidence: 0.68,
      ...EXAMPLE_AUTHORSHIP,
      steps: [],
      evidence: [],
      category: "application",
      severity: "high",
      recommended_action: "Check whether the process runs",
      citations: [{ id: "billing", kind: "service", title: "Service billing" }],
      objections: [],
      agents: [],
    },
  },
  recover: (call, platform) =>
    recoverRun(platform, crewOf(call.decisionId), call, recoverOutcome(outcome)),
  run: async ({ incident }, context) => {
    const client = await context.temporal();
    const workflowId = crewOf(context.decisionId);
    const handle = await mapTemporalErrors(client.workflow.start<typeof crew>(WORKFLOW.crew, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId,
      args: [{ incident, requested_by: `key:${context.caller.keyId}` }],
      staticSummary: "Incident that is diagnosed",
    }));
    const run = { workflow_id: workflowId, run_id: handle.firstExecutionRunId };
    if (context.detached) return startedOnly(run);
    const result = await ended(context, handle, async (tell) => {
      const reports = await handle.query(reportsQuery);
      const last = reports.at(-1);
      if (last) tell(reports.length, 2 * AGENTS.length - 1, `${last.agent}: ${last.says[0] ?? ""}`);
    });
    return { ...run, ...diagnosed(result) };
  },
});

const diagnosed = ({ citations, objections, agents, steps, evidence, ...rest }: CrewResult) => ({
  ...rest,
  ...authorshipOf(rest),
  steps: steps.map(({ text, evidence }) => ({ text, evidence: [...evidence] })),
  evidence: [...evidence],
  citations: [...citations],
  objections: [...objections],
  agents: agents.map(({ says, sources, suspects, agent, round }) => ({
    ...{ agent, round, says: [...says], sources: [...sources], suspects: [...suspects] },
  })),
});
