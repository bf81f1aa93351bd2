import { z } from "zod";
import { followStartedRun, operation } from "../../calls/mod.ts";
import { startRun } from "../../calls/recover/mod.ts";
import { TASK_QUEUE, type TenantSync, WORKFLOW } from "../../contract/domain/mod.ts";
import { completedRun, exampleStartedRun, StartedRun } from "../schemas/mod.ts";

/** Compares all organizations with the identity provider. */
export const syncTenants = operation({
  name: "tenants.sync",
  group: "devices",
  summary: "Register all organizations at the identity provider",
  description:
    "The result names the organizations that were registered (`created`), brought up to date (`updated`) and lost by the " +
    "identity provider (`missing`), those that it did not take (`failed`, each `not_done` or `unknown`), and domains that " +
    "several of them name (`conflicts`). Nothing is ever deleted, and what is missing is not made again. The identity provider " +
    "is a Keycloak where one is set, else the platform itself (`built_in`). A call during such a run joins it.",
  effect: "run",
  access: "admin",
  input: z.object({
    dry_run: z.boolean().default(false).describe("True: nothing is changed"),
  }),
  output: StartedRun,
  rest: { tenants_sync: "POST /v1/tenants/sync" },
  presentation: { hints: { destructive: false, idempotent: true }, errors: ["Unavailable"] },
  governance: { rule: "key-decides" },
  durability: {
    startsWorkflow: WORKFLOW.tenantSync,
    longRunning: { shared: true, outcome: completedRun },
    startsRun: "status",
  },
  example: {
    input: {},
    output: {
      ...exampleStartedRun,
      workflow_id: "tenants-sync",
      result_url: "http://127.0.0.1:8080/v1/workflows/tenants-sync/result",
    },
  },
  run: async ({ dry_run }, context) => {
    const request: TenantSync = { dry_run };
    const run = await startRun(context, WORKFLOW.tenantSync, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: dry_run ? "tenants-sync-dry" : "tenants-sync",
      args: [request],
      staticSummary: dry_run ? "Dry run over all organizations" : "All organizations",
    });
    return await followStartedRun(context, WORKFLOW.tenantSync, run, undefined);
  },
});
