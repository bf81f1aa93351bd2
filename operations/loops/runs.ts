import { createHash } from "node:crypto";
import { createServiceFinding } from "../../detection/mod.ts";
import {
  type Finding,
  SCENARIOS,
  startAttributes,
  TASK_QUEUE,
  type TestRequest,
  WORKFLOW,
} from "../../domain/mod.ts";
import { probe, type Service } from "../../integrations/host/mod.ts";
import {
  exampleRun,
  Started,
  started,
  startedAlone,
  startedOutcome,
  WaitSeconds,
} from "../_started.ts";
import { z } from "zod";
import { Problem } from "../../contract/mod.ts";
import { getService, listServiceNames, type Store } from "../../store/mod.ts";
import { FULL } from "../_audience.ts";
import { idOfCall, recoverMarked, recoverRun, startOrJoin } from "../../calls/recover/mod.ts";
import { mapTemporalErrors, operation } from "../../calls/mod.ts";

const sweepOf = (decisionId: string | undefined) => `sweep-${idOfCall(decisionId, 12)}`;

/** Runs the loop for an incident, or for whatever a sweep over all services finds. */
export const runLoop = operation({
  name: "itsm.loop",
  group: "itsm",
  summary: "Run the incident loop: for one incident, or for all that a sweep finds now",
  description:
    "With `service`, or an `incident` that names a known service, that service is probed and, where it " +
    "fails, repaired as its runbook says. An `incident` that names none becomes an escalated ticket. With neither, " +
    "every watched service is probed. A fault whose loop runs already is joined. The run goes on whatever becomes of " +
    "this call; read its result with the workflow id.",
  effect: "run",
  startsWorkflow: WORKFLOW.itsmLoop,
  access: "partner",
  input: z.object({
    incident: z.string().trim().min(1).max(4000).optional().describe("What is wrong, in words"),
    service: z.string().min(1).max(100).optional().describe(
      "Name of the service, where it is known",
    ),
    wait_seconds: WaitSeconds,
  }),
  output: Started,
  rest: { itsm_loop: "POST /v1/itsm/loop" },
  tool: { itsm_run_loop: FULL },
  longRunning: { shared: true, outcome: startedOutcome },
  errors: ["NotFound", "Unavailable"],
  example: { input: { incident: "billing answers with errors" }, output: exampleRun },
  async recover(call, platform) {
    const swept = await recoverRun(platform, sweepOf(call.decisionId), call);
    return swept.state === "done" ? swept : await recoverMarked(platform, call);
  },
  run: async ({ incident, service, wait_seconds }, context) => {
    const { store, caller, temporal } = context;
    const client = await temporal();
    const by = `key:${caller.keyId}`;
    if (incident === undefined && service === undefined) {
      const handle = await mapTemporalErrors(client.workflow.start(WORKFLOW.itsmSweep, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: sweepOf(context.decisionId),
        args: [by],
        staticSummary: "Sweep that was asked for",
      }));
      return await started(context, client, handle, wait_seconds);
    }
    const finding = await findingFor(store, by, incident, service);
    const run = await startOrJoin(context, WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
      typedSearchAttributes: startAttributes(finding),
      staticSummary: finding.service ? `${finding.service}: ${finding.code}` : "Reported incident",
    });
    return await started(context, client, run, wait_seconds);
  },
});

/** What a person's words point to: a service that is known, or else a report for people. */
async function findingFor(
  store: Store,
  by: string,
  incident?: string,
  service?: string,
): Promise<Finding> {
  const name = service ?? await serviceNamedIn(store, incident!);
  const known = name === undefined
    ? undefined
    : await getService(store.asPlatform(), name) as Service | undefined;
  if (service !== undefined && !known) {
    const names = (await listServiceNames(store.asPlatform())).slice(0, 50).join(", ");
    throw new Problem("NotFound", `There is no service ${service}; there are ${names}`);
  }
  const about = { requested_by: by, ...(incident === undefined ? {} : { report: incident }) };
  if (known?.check) {
    const { code } = await probe(known.check);
    return { ...createServiceFinding(known, code), ...about };
  }
  return {
    service: known?.name ?? null,
    check: "report",
    code: "reported",
    fingerprint: createHash("sha256").update(`report\n${incident}`).digest("hex").slice(0, 16),
    observed_at: new Date().toISOString(),
    ...about,
  };
}

/** The longest name of a service that stands in the text as a word of its own. */
async function serviceNamedIn(store: Store, text: string): Promise<string | undefined> {
  const words = new Set(
    text.toLowerCase().split(/[^a-z0-9._-]+/).map((word) => word.replace(/[.]+$/, "")),
  );
  return (await listServiceNames(store.asPlatform())).filter((name) =>
    words.has(name.toLowerCase())
  )
    .sort((a, b) => b.length - a.length)[0];
}

/** Starts a real test incident. */
export const runTest = operation({
  name: "itsm.test",
  group: "itsm",
  summary: "Break a small real service of the platform's own, and let the loop find and heal it",
  description:
    "Starts a small HTTP service, breaks it as the scenario says, and runs the six steps on it. Touches " +
    "nothing else.",
  effect: "run",
  startsWorkflow: WORKFLOW.itsmTest,
  hints: { destructive: false },
  access: "key",
  input: z.object({
    scenario: z.enum(SCENARIOS).default("crash").describe(
      "crash: the process is killed; hang: it stops answering; wrong_answers: it answers 500; disk_full: its quota " +
        "folder is full",
    ),
    wait_seconds: WaitSeconds,
  }),
  output: Started,
  rest: { itsm_test: "POST /v1/itsm/test" },
  tool: { itsm_run_test: FULL },
  longRunning: { outcome: startedOutcome },
  errors: ["Unavailable"],
  example: { input: { scenario: "crash" }, output: exampleRun },
  recover: (call, platform) => recoverRun(platform, `test-${idOfCall(call.decisionId, 8)}`, call),
  run: async ({ scenario, wait_seconds }, context) => {
    const client = await context.temporal();
    const id = idOfCall(context.decisionId, 8);
    const request: TestRequest = { id, scenario, requested_by: `key:${context.caller.keyId}` };
    const handle = await mapTemporalErrors(client.workflow.start(WORKFLOW.itsmTest, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `test-${id}`,
      args: [request],
      staticSummary: `Test incident: ${scenario}`,
    }));
    return await startedAlone(context, client, handle, wait_seconds);
  },
});
