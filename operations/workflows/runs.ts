import { randomUUID } from "node:crypto";
import { WORKFLOW, WORKFLOW_PURPOSE } from "../../domain/mod.ts";
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { z } from "zod";
import { type LostCall, Problem, type Recovery } from "../../contract/mod.ts";
import { getCallEffects, noteCallEffects } from "../../store/mod.ts";
import { CONVERSATIONS, refuseOtherTenants } from "./_private_runs.ts";
import { exampleRun, group, ofWorkflow, RUN_STATUS, RunShape, shownRun } from "./_run_shapes.ts";
import { Limit, WorkflowId } from "../_shapes.ts";
import { findMarkedRun, noRun, notNoted } from "../../calls/recover/mod.ts";
import { mapTemporalErrors, operation, type Platform } from "../../calls/mod.ts";

/** Lists runs. */
export const listRuns = operation({
  name: "workflows.list",
  group,
  summary: "List runs of workflows, newest first",
  description:
    "Without conversations and tasks over A2A, which are listed to their own key; tier admin sees them all.",
  effect: "read",
  access: "key",
  input: z.object({
    status: z.enum(RUN_STATUS).optional().describe("Only runs of this status"),
    type: z.enum(Object.values(WORKFLOW)).optional().describe(
      "Only runs of this type",
    ),
    limit: Limit,
  }),
  output: z.object({ workflows: z.array(RunShape) }),
  rest: { workflows_list: "GET /v1/workflows" },
  errors: ["Unavailable"],
  example: { input: { type: WORKFLOW.itsmLoop, limit: 1 }, output: { workflows: [exampleRun] } },
  run: async ({ status, type, limit }, { temporal, caller }) => {
    const query = [
      ...(status ? [`ExecutionStatus = '${toQuery(status)}'`] : []),
      ...(type ? [`WorkflowType = '${type}'`] : []),
      ...(caller.tier === "admin" ? [] : CONVERSATIONS.map((its) => `WorkflowType != '${its}'`)),
    ].join(" AND ");
    const client = await temporal();
    return {
      workflows: await mapTemporalErrors(
        firstRuns(client.workflow.list({ query, pageSize: limit }), limit),
      ),
    };
  },
});

async function firstRuns(runs: AsyncIterable<WorkflowExecutionInfo>, limit: number) {
  const shown: ReturnType<typeof shownRun>[] = [];
  for await (const info of runs) {
    if (shown.push(shownRun(info)) >= limit) break;
  }
  return shown;
}

/** `TIMED_OUT` as the visibility store spells it: `TimedOut`. */
function toQuery(status: string): string {
  const words = status.toLowerCase().split("_").map((w) => w[0]!.toUpperCase() + w.slice(1)).join(
    "",
  );
  return words === "Cancelled" ? "Canceled" : words;
}

/** Lists types. */
export const listTypes = operation({
  name: "workflows.types",
  group,
  summary: "List the types of workflows, and which can be started",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    types: z.array(z.object({
      type: z.string(),
      about: z.string(),
      startable: z.boolean(),
      operation: z.string().nullable().describe("Whose rules and input apply to starting it"),
    })),
  }),
  rest: { workflow_types: "GET /v1/workflows/types" },
  example: {
    input: {},
    output: {
      types: [{
        type: WORKFLOW.itsmTest,
        about: "A test incident",
        startable: true,
        operation: "itsm.test",
      }],
    },
  },
  run: (_, { operations }) => {
    const starters = new Map([...operations.values()].map((one) => [one.startsWorkflow, one.name]));
    const types = Object.values(WORKFLOW).map((type) => ({
      type,
      about: WORKFLOW_PURPOSE[type],
      startable: starters.has(type),
      operation: starters.get(type) ?? null,
    }));
    return Promise.resolve({ types });
  },
});

/** Asks a run to end. */
export const cancelRun = operation({
  name: "workflows.cancel",
  group,
  summary: "Ask a running workflow to end",
  description:
    "Only runs of the incident loop: those that the platform has started by itself, and those that a key of your " +
    "tenant has. Tier admin cancels others' too.",
  effect: "run",
  access: "partner",
  humanControl: true,
  input: z.object({ workflow_id: WorkflowId }),
  output: z.object({ workflow_id: z.string(), cancel_requested: z.literal(true) }),
  rest: { workflow_cancel: "POST /v1/workflows/{workflow_id}/cancel" },
  errors: ["NotFound", "Forbidden", "Unavailable"],
  example: {
    input: { workflow_id: exampleRun.workflow_id },
    output: { workflow_id: exampleRun.workflow_id, cancel_requested: true },
  },
  recover: traceCancel,
  run: async ({ workflow_id }, context) => {
    if (!/^(loop|test|sweep)-/.test(workflow_id)) {
      throw new Problem(
        "Forbidden",
        "Only runs of the incident loop can be cancelled; the platform needs the others",
      );
    }
    await ofWorkflow(context, workflow_id, async (handle) => {
      await refuseOtherTenants(context, handle, "cancel");
      await noteCallEffects(context.store.asPlatform(), context.decisionId, { workflow_id });
      await askToEnd(await context.temporal(), workflow_id, context.decisionId);
    });
    return { workflow_id, cancel_requested: true as const };
  },
});

/** Asks it to end, so that its history tells by which decision. */
async function askToEnd(client: Client, workflowId: string, decisionId: string | undefined) {
  const { namespace, identity } = client.options;
  await client.workflowService.requestCancelWorkflowExecution({
    ...{ namespace, identity, requestId: randomUUID(), workflowExecution: { workflowId } },
    ...(decisionId ? { reason: decisionId } : {}),
  });
}

/** A run that had been asked to end before is asked by nobody else: then nothing was done. */
async function traceCancel(call: LostCall, platform: Platform): Promise<Recovery> {
  const noted = await getCallEffects(platform.store.asPlatform(), call.decisionId);
  if (!noted) return notNoted(call);
  const workflow_id = noted.ids.workflow_id!;
  const run = await findMarkedRun(platform, workflow_id, call);
  if (!run) return noRun(workflow_id, call);
  const ids = { workflow_id, run_id: run.runId };
  return { state: "done", ids, output: { workflow_id, cancel_requested: true } };
}
