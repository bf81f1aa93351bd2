import { z } from "zod";
import { type Context, followStartedRun, operation, runAlone } from "../../calls/mod.ts";
import { idOfCall, startRun } from "../../calls/recover/mod.ts";
import { InvalidInput } from "../../contract/mod.ts";
import { checkReportedService, createReportedFinding } from "../../judgement/detection/mod.ts";
import {
  type Finding,
  SCENARIOS,
  startAttributes,
  TASK_QUEUE,
  type TestRequest,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import {
  completedRun,
  exampleStartedRun,
  StartedRun,
  tellRun,
  WaitSeconds,
} from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** Runs the loop for one incident, or a sweep for all. */
export const runLoop = operation({
  name: "itsm.loop",
  group: "itsm",
  summary: "Run the incident loop for one incident, or for all that a sweep finds now",
  description:
    "With `service`, or an `incident` that names a known service, that service is probed and, if it fails, repaired by its " +
    "runbook. An `incident` that names no service becomes an escalated ticket. With neither, every watched service is " +
    "probed. With `service` and a `reason`, a service that passes its check is restarted, under the same rules as a repair: the " +
    "guardrails ask a person about that, who must be another one. If a loop for the same fault is running already, the call " +
    "joins it. Where the loop waits for people, `waits_for` tells at once which approval, why and until when. The run " +
    "continues whatever becomes of the call; read its result with the workflow id.",
  effect: "run",
  access: "partner",
  input: z.object({
    incident: z.string().trim().min(1).max(4000).optional().describe("What is wrong, as free text"),
    service: z.string().min(1).max(100).optional().describe("Name of the service, if known"),
    reason: z.string().trim().min(1).max(1000).optional().describe(
      "Why a healthy `service` is to be restarted. Of a person whose key has may_approve it is published permanently with the " +
        "receipt; that of others stays private",
    ),
    wait_seconds: WaitSeconds,
  }),
  output: StartedRun,
  rest: { itsm_loop: "POST /v1/itsm/loop" },
  tool: { itsm_run_loop: FULL },
  presentation: {
    tell: tellRun,
    toolText: {
      itsm_run_loop:
        "To have a service probed and, if it fails, repaired within the guardrails: give `service`, or an `incident` that names one; with neither, all are probed. With `service` and `reason` a healthy one is restarted, which people are asked about. A loop that runs already is joined; `waits_for` says which approval it waits for.",
    },
    untrusted: true,
    errors: ["NotFound", "Conflict", "Unavailable"],
  },
  governance: {
    rule: "tickets-and-loops",
    async check({ service, reason }, { store }) {
      if (reason !== undefined && service === undefined) throw reasonAlone();
      if (service !== undefined) await checkReportedService(store.db, service);
    },
  },
  durability: {
    startsWorkflow: WORKFLOW.itsmLoop,
    longRunning: { shared: true, outcome: completedRun },
    startsRun: "status",
  },
  example: { input: { incident: "billing answers with errors" }, output: exampleStartedRun },
  run: async ({ incident, service, reason, wait_seconds }, context) => {
    const requestedBy = `key:${context.caller.keyId}`;
    if (reason !== undefined && service === undefined) throw reasonAlone();
    if (incident === undefined && service === undefined) {
      const run = await startSweep(context, requestedBy);
      return await followStartedRun(context, WORKFLOW.itsmSweep, run, wait_seconds);
    }
    const report = { incident, service, restart: reason, requestedBy };
    const finding = await createReportedFinding(context, report);
    const run = await startLoop(context, finding);
    return await followStartedRun(context, WORKFLOW.itsmLoop, run, wait_seconds);
  },
});

/** Starts a real test incident. */
export const runTest = operation({
  name: "itsm.test",
  group: "itsm",
  summary: "Break a small real service of the platform's own, and let the loop repair it",
  description:
    "Starts a small HTTP service, breaks it as the scenario says, and runs the six steps of the loop on it. Nothing else " +
    "is affected.",
  effect: "run",
  access: "key",
  input: z.object({
    scenario: z.enum(SCENARIOS).default("crash").describe(
      "crash: the process is killed; hang: it stops answering; wrong_answers: it answers 500; disk_full: the folder of " +
        "its quota is full",
    ),
    wait_seconds: WaitSeconds,
  }),
  output: StartedRun,
  rest: { itsm_test: "POST /v1/itsm/test" },
  tool: { itsm_run_test: FULL },
  presentation: {
    tell: tellRun,
    toolText: { itsm_run_test: "A drill with a small HTTP service, which touches nothing else." },
    hints: { destructive: false },
    untrusted: true,
    errors: ["Unavailable"],
  },
  governance: { rule: "tickets-and-loops" },
  durability: {
    startsWorkflow: WORKFLOW.itsmTest,
    longRunning: { outcome: completedRun },
    startsRun: "status",
  },
  example: { input: { scenario: "crash" }, output: exampleStartedRun },
  run: async ({ scenario, wait_seconds }, context) => {
    const id = idOfCall(context.decisionId, 8);
    const request: TestRequest = { id, scenario, requested_by: `key:${context.caller.keyId}` };
    return await runAlone(context, {
      type: WORKFLOW.itsmTest,
      workflowId: `test-${id}`,
      request,
      summary: `Test incident: ${scenario}`,
    }, wait_seconds);
  },
});

function reasonAlone(): InvalidInput {
  const msg = "A reason is for the restart of a service; name the service";
  return new InvalidInput([{ path: ["service"], msg, type: "value_error" }]);
}

async function startSweep(context: Context, requestedBy: string) {
  return await startRun(context, WORKFLOW.itsmSweep, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: `sweep-${idOfCall(context.decisionId, 12)}`,
    args: [requestedBy],
    staticSummary: "Requested sweep",
  });
}

async function startLoop(context: Context, finding: Finding) {
  return await startRun(context, WORKFLOW.itsmLoop, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: `loop-${finding.fingerprint}`,
    args: [finding],
    typedSearchAttributes: startAttributes(finding),
    staticSummary: finding.service ? `${finding.service}: ${finding.code}` : "Reported incident",
  });
}
