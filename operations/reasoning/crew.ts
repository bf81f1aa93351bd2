import { z } from "zod";
import { composedText } from "../../contract/mod.ts";
import { operation, runForResult } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import {
  type AgentReport,
  AGENTS,
  type CrewRequest,
  type CrewResult,
  OBSERVATION_SOURCES,
  type StartedRun,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { EXAMPLE_RUN_ID, trimmedText } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";
import { authorInReceipt, authorship, Claim, exampleAuthorship, Source } from "./_authorship.ts";

const Report = z.object({
  agent: z.enum(AGENTS),
  round: z.number().int().describe("From 1; round 2 examines what the verifier named"),
  says: z.array(composedText).describe("Findings, as sentences"),
  sources: z.array(Source),
  suspects: z.array(z.object({ service: z.string(), weight: z.number(), why: composedText })),
});

const Examined = z.object({
  service: z.string(),
  ticket_id: z.string().nullable().describe(
    "Incident whose loop has made these observations; null: they were made now, by the same sources",
  ),
  symptom: z.string().describe("Code of the failed check or of the finding; it is no cause"),
  cause: z.string().nullable().describe("Null: what was observed names none"),
  says: composedText.describe("The same in a sentence"),
  cause_confidence: z.number(),
  category: z.string().nullable(),
  observations: z.array(z.number().int()).describe("Numbers of those that name the cause"),
  alternatives: z.array(
    z.object({ cause: z.string(), observations: z.array(z.number().int()), because: z.string() }),
  ),
  seen: z.array(
    z.object({
      number: z.number().int(),
      source: z.enum(OBSERVATION_SOURCES),
      code: z.string(),
      says: composedText,
    }),
  ),
});

/** Diagnoses an incident by six agents. */
export const dispatchCrew = operation({
  name: "crew.dispatch",
  group: "platform",
  summary: "Have six agents diagnose an incident, with citations",
  description:
    "The agents triage, logs, metrics, topology and change examine the incident. What they know of a service that has a " +
    "fault was observed by the sources that its loop uses, and the loop's rules name its cause. The verifier " +
    "measures again, objects, and may ask for a second round. If a model is configured, it writes the diagnosis from the " +
    "evidence, and the verifier checks each sentence against its citations; `written_by` names the author. The agents " +
    "change nothing: to repair the fault, call itsm_run_loop with the `cause`.",
  effect: "run",
  access: "key",
  input: z.object({
    incident: trimmedText(1, 8000).describe(
      "What is wrong, as free text; names of services are recognized",
    ),
  }),
  output: z.object({
    workflow_id: z.string(),
    run_id: z.string(),
    diagnosis: z.string().describe("Where a model wrote it, [n] cites an entry of `evidence`"),
    cause: z.string().nullable().describe("Service that causes the incident; null: not known"),
    confidence: z.number().describe(
      "Confidence in the cause, 0 to 1: how much of the evidence supports it; that of a model is at most 0.15 higher",
    ),
    ...authorship,
    steps: z.array(Claim).describe("Reasoning of the model; empty where the rules wrote it"),
    evidence: z.array(z.object({ n: z.number().int(), from: z.string(), text: z.string() }))
      .describe("The evidence that is cited by number; empty where the rules wrote it"),
    category: z.string().nullable().describe("Null: the engine is away"),
    severity: z.string().nullable(),
    recommended_action: z.string().nullable(),
    citations: z.array(Source),
    objections: z.array(composedText).describe("Remaining objections of the verifier"),
    examined: z.array(Examined).describe(
      "Services that have a fault, with the cause that the loop's rules name by what was observed there",
    ),
    agents: z.array(Report),
  }),
  tool: { dispatch_crew_incident: FULL },
  presentation: {
    tell: ({ diagnosis, cause, confidence, severity, recommended_action, objections }) => [
      diagnosis,
      cause === null
        ? "No cause is known."
        : `The cause is ${cause}, with a confidence of ${confidence}.`,
      ...(severity === null ? [] : [`Severity: ${severity}.`]),
      ...(recommended_action === null ? [] : [`To do: ${recommended_action}`]),
      ...objections.map((objection: unknown) => `Objection: ${objection}`),
    ],
    toolText: {
      dispatch_crew_incident:
        "For why something fails now, before there is a ticket: services are looked at anew, with what the loop looks at, and nothing is changed. Of an incident that has a ticket, get_incident_details tells the cause.",
    },
    hints: { destructive: false },
    untrusted: true,
    errors: ["Unavailable"],
  },
  governance: { rule: "sandbox-and-judgement" },
  durability: {
    startsWorkflow: WORKFLOW.crew,
    longRunning: { outcome: toOutput },
    receipt: authorInReceipt,
    startsRun: "result",
  },
  example: {
    input: { incident: "billing is down" },
    output: {
      workflow_id: "crew-5f0c21ab9d3e",
      run_id: EXAMPLE_RUN_ID,
      diagnosis: "The cause is most likely billing: it is named; it fails its health check.",
      cause: "billing",
      confidence: 0.68,
      ...exampleAuthorship,
      steps: [],
      evidence: [],
      category: "application",
      severity: "high",
      recommended_action: "Check whether the process runs",
      citations: [{ id: "billing", kind: "service", title: "Service billing" }],
      objections: [],
      examined: [],
      agents: [],
    },
  },
  run: async ({ incident }, context) => {
    const request: CrewRequest = { incident, requested_by: `key:${context.caller.keyId}` };
    return await runForResult(context, {
      type: WORKFLOW.crew,
      workflowId: `crew-${idOfCall(context.decisionId, 12)}`,
      request,
      summary: "Diagnosis of an incident",
    }, toOutput);
  },
});

function toOutput(run: StartedRun, { agents, ...result }: CrewResult) {
  return { ...run, ...result, agents: agents.map(toReport) };
}

/** Converts a report, without the fields that only the crew itself uses. */
function toReport({ agent, round, says, sources, suspects }: AgentReport) {
  return { agent, round, says, sources, suspects };
}
