import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { WORKFLOW_PURPOSE } from "../../domain/mod.ts";
import { listRunbooks } from "../../store/mod.ts";
import { exampleView, IntegrationView } from "../schemas/mod.ts";

/** Workflows that can be started, and runbooks. */
export const soarWorkflows = operation({
  name: "soar.workflows",
  group: "integrations",
  summary: "List the workflows that can be started, and the runbooks that loops repair by",
  description:
    "Types of workflows are started by `soar_trigger`, each by the rules of its own operation. A runbook is started with " +
    "a service to repair. Without a key: the runbooks that ship with the product.",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: IntegrationView.extend({
    workflows: z.array(z.object({
      workflow_id: z.string().describe("Name to start it by: a type, or `runbook:<name>`"),
      name: z.string(),
      active: z.boolean().describe("Whether it can be started now"),
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
