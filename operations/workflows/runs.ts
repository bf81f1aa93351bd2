import { z } from "zod";
import { CONVERSATIONS, mapTemporalErrors, operation, runsOfTenant } from "../../calls/mod.ts";
import { WORKFLOW, WORKFLOW_PURPOSE } from "../../contract/domain/mod.ts";
import { Limit } from "../schemas/mod.ts";
import { exampleRun, Run, RUN_STATUSES, toRun } from "./_run.ts";

/** Runs that match. */
export const workflowList = operation({
  name: "workflows.list",
  group: "workflows",
  summary: "List runs of workflows, newest first",
  description:
    "Those of your tenant; keys of tier admin get those of all tenants. Conversations and tasks over A2A are not listed, " +
    "except to keys of tier admin; their own key lists them over A2A.",
  effect: "read",
  access: "key",
  input: z.object({
    status: z.enum(RUN_STATUSES).optional().describe("Only runs with this status"),
    type: z.enum(Object.values(WORKFLOW)).optional().describe(
      "Only runs of this workflow type",
    ),
    limit: Limit,
  }),
  output: z.object({ workflows: z.array(Run) }),
  rest: { workflows_list: "GET /v1/workflows" },
  presentation: { errors: ["Unavailable"] },
  governance: { spansTenants: true },
  example: { input: { type: WORKFLOW.itsmLoop, limit: 1 }, output: { workflows: [exampleRun] } },
  run: async ({ status, type, limit }, { store, temporal, caller, spansTenants }) => {
    const hidden = caller.tier === "admin" ? [] : CONVERSATIONS;
    const query = [
      ...(spansTenants ? [] : [runsOfTenant(store.tenant)]),
      ...(status ? [`ExecutionStatus = '${toQueryStatus(status)}'`] : []),
      ...(type ? [`WorkflowType = '${type}'`] : []),
      ...hidden.map((type) => `WorkflowType != '${type}'`),
    ].join(" AND ");
    const client = await temporal();
    const runs = client.workflow.list({ query, pageSize: limit });
    return { workflows: (await mapTemporalErrors(takeFirst(runs, limit))).map(toRun) };
  },
});

/** Types of workflows. */
export const workflowTypes = operation({
  name: "workflows.types",
  group: "workflows",
  summary: "List the types of workflows, and which of them can be started",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    types: z.array(z.object({
      type: z.string(),
      about: z.string(),
      startable: z.boolean(),
      operation: z.string().nullable().describe(
        "Operation that starts it, whose input and rules apply; null: callers cannot start it",
      ),
    })),
  }),
  rest: { workflow_types: "GET /v1/workflows/types" },
  example: {
    input: {},
    output: {
      types: [{
        type: WORKFLOW.itsmTest,
        about: WORKFLOW_PURPOSE.itsmTest,
        startable: true,
        operation: "itsm.test",
      }],
    },
  },
  run: (_, { operations }) => {
    const starters = new Map(
      [...operations.values()].map(({ durability, name }) => [durability?.startsWorkflow, name]),
    );
    const types = Object.values(WORKFLOW).map((type) => ({
      type,
      about: WORKFLOW_PURPOSE[type],
      startable: starters.has(type),
      operation: starters.get(type) ?? null,
    }));
    return Promise.resolve({ types });
  },
});

/** Converts a status to the form of Temporal's list filter: `TIMED_OUT` to `TimedOut`. */
function toQueryStatus(status: typeof RUN_STATUSES[number]): string {
  if (status === "CANCELLED") return "Canceled";
  return status.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

async function takeFirst<T>(entries: AsyncIterable<T>, count: number): Promise<T[]> {
  const first: T[] = [];
  for await (const entry of entries) {
    if (first.push(entry) >= count) break;
  }
  return first;
}
