import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { recoverNothing } from "../../calls/recover/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { WORKFLOW, WORKFLOW_PURPOSE } from "../../domain/mod.ts";
import { listRunbooks } from "../../store/mod.ts";
import { EXAMPLE_RUN_ID, exampleView, IntegrationView } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** Workflows that can be started, and runbooks. */
export const soarWorkflows = operation({
  name: "soar.workflows",
  group: "integrations",
  summary: "List the workflows that can be started, and the runbooks that loops repair by",
  description:
    "Types of workflows are started by `soar_trigger`, each by the rules of its own operation. Runbooks are chosen by the " +
    "loop of an incident, behind its guardrails. Without a key: the runbooks that ship with the product.",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: IntegrationView.extend({
    workflows: z.array(z.object({
      workflow_id: z.string().describe("Name of the type, or `runbook:<name>`"),
      name: z.string(),
      active: z.boolean().describe("Whether it can be run now"),
    })),
  }),
  rest: {
    soar_workflows: "GET /v1/integrations/soar/workflows",
    soar_alias: "GET /v1/integrations/soar",
  },
  example: {
    input: {},
    output: {
      ...exampleView,
      integration: "soar",
      detail: "9 workflow types can be started; 41 runbooks in force",
      workflows: [{ workflow_id: "itsmTest", name: WORKFLOW_PURPOSE.itsmTest, active: true }],
    },
  },
  run: async (_, { views, store, caller, operations }) => {
    const [view, runbooks] = await Promise.all([views.view("soar"), listRunbooks(store.db)]);
    const active = view.status !== "down";
    const types = [...operations.values()].flatMap(({ startsWorkflow }) => startsWorkflow ?? []);
    const shown = runbooks.filter(({ origin }) => caller.keyId !== null || origin === "shipped");
    return {
      ...view,
      workflows: [
        ...types.sort().map((type) => ({
          workflow_id: type,
          name: WORKFLOW_PURPOSE[type],
          active,
        })),
        ...shown.map(({ name, version }) => ({
          workflow_id: `runbook:${name}`,
          name: `Runbook ${name} ${version}`,
          active,
        })),
      ],
    };
  },
});

const Trigger = z.strictObject({
  workflow_id: z.string().min(1).max(200).describe("A type that `soar_workflows` lists"),
  body: z.record(z.string(), z.unknown()).default({}).describe(
    "Input of the operation that starts the type",
  ),
});

/** Starts a workflow by a call of the operation that it belongs to. */
export const soarTrigger = operation({
  name: "soar.trigger",
  group: "integrations",
  summary: "Start a workflow by its name, by the rules of its own operation",
  description:
    "The same as a call of the operation that starts the type: its limits, guardrails and governance apply, and so does " +
    "its answer.",
  effect: "run",
  shippedRule: "tickets-and-loops",
  access: "partner",
  input: Trigger,
  output: z.looseObject({
    workflow_id: z.string(),
    run_id: z.string().optional(),
    status: z.string().optional().describe("Of the run, where the operation tells it"),
  }),
  tool: { soar_trigger: FULL },
  errors: ["NotFound", "Conflict", "Unavailable"],
  example: {
    input: { workflow_id: WORKFLOW.itsmTest, body: { scenario: "crash" } },
    output: { workflow_id: "test-5f0c21ab", run_id: EXAMPLE_RUN_ID, status: "RUNNING" },
  },
  delegateTo(input, { operations }) {
    const { success, data } = Trigger.safeParse(input);
    if (!success) return undefined;
    const starter = [...operations.values()].find((one) => one.startsWorkflow === data.workflow_id);
    return starter && { operation: starter, input: data.body, field: "body" };
  },
  check: ({ workflow_id }) => refuse(workflow_id),
  recover: recoverNothing,
  /** Runs only where no operation starts the type. */
  run: ({ workflow_id }) => refuse(workflow_id),
});

function refuse(name: string): Promise<never> {
  const problem = name.startsWith("runbook:")
    ? new Problem(
      "Conflict",
      `Cannot start ${name} by itself, as the loop of an incident chooses it; start ${WORKFLOW.itsmLoop} with a service`,
    )
    : new Problem(
      "NotFound",
      `There is no workflow ${name} to start; GET /v1/integrations/soar/workflows lists them`,
    );
  return Promise.reject(problem);
}
