import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import {
  orderAct,
  type OrderedAct,
  type OutsideAct,
  recoverAct,
  requireSystem,
  systemFor,
  unlessAway,
} from "./acts/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { WORKFLOW, WORKFLOW_PURPOSE } from "../../contract/domain/mod.ts";
import { RemoteFailed } from "../../integrations/remote/mod.ts";
import { listRunbooks } from "../../store/catalogue/mod.ts";
import { EXAMPLE_RUN_ID, exampleView, IntegrationView } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** Workflows that can be started, and runbooks. */
export const soarWorkflows = operation({
  name: "soar.workflows",
  group: "integrations",
  summary: "List the workflows that can be started, and the runbooks that loops repair by",
  description:
    "Types of workflows are started by `soar_trigger`, each by the rules of its own operation. Runbooks are chosen by the " +
    "loop of an incident, behind its guardrails. Without a key: the runbooks that ship with the product. The operator's own " +
    "keys also see the active workflows of n8n, where that is set.",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: IntegrationView.extend({
    workflows: z.array(z.object({
      workflow_id: z.string().describe("Name of the type, `runbook:<name>` or `n8n:<id>`"),
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
  run: async (_, context) => {
    const { views, store, caller, operations } = context;
    const [view, runbooks, others] = await Promise.all([
      views.view("soar", context),
      listRunbooks(store.db),
      unlessAway(systemFor("soar", context)?.listWorkflows(), []),
    ]);
    const active = view.mode === "remote" || view.status !== "down"; // n8n's state is not Temporal's
    const types = [...operations.values()].flatMap(({ durability }) =>
      durability?.startsWorkflow ?? []
    );
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
        ...others.map(({ id, name, isStartable }) => ({
          workflow_id: `n8n:${id}`,
          name,
          active: isStartable,
        })),
      ],
    };
  },
});

const Trigger = z.strictObject({
  workflow_id: z.string().min(1).max(200).describe(
    "A type, or `n8n:<id>`, that `soar_workflows` lists",
  ),
  body: z.record(z.string(), z.unknown()).default({}).describe(
    "Input of the operation that starts the type; for n8n, what its webhook gets",
  ),
});
const N8N = /^n8n:([\w-]{1,64})$/;

/** Starts a workflow by a call of the operation that it belongs to. */
export const soarTrigger = operation({
  name: "soar.trigger",
  group: "integrations",
  summary: "Start a workflow by its name, by the rules of its own operation",
  description:
    "The same as a call of the operation that starts the type: its limits, guardrails and governance apply, and so does " +
    "its answer. A workflow of n8n is started by its webhook, once, with the act's id in the header `x-sealoop-act`; " +
    "executions that n8n shows prove that it began, and the answer comes when it has ended, or after five seconds. " +
    "Where nothing shows what became of it, it is `unknown`, people are told how to find out, and it is not repeated.",
  effect: "run",
  access: "partner",
  input: Trigger,
  output: z.looseObject({
    workflow_id: z.string(),
    run_id: z.string().optional(),
    execution_id: z.string().optional().describe("Of n8n"),
    status: z.string().optional().describe(
      "Of the run, where the operation tells it; of n8n: begun, done, not_done or unknown",
    ),
    act_id: z.string().optional().describe(
      "Of n8n; GET /v1/workflows/act-<act id>/result waits for its end",
    ),
    code: z.string().optional().describe("Of n8n: execution_success, execution_error, timeout, …"),
    receipt_id: z.string().optional().describe("Of n8n: receipt of its end"),
  }),
  tool: { soar_trigger: FULL },
  presentation: {
    toolText: {
      soar_trigger:
        "By the rules of the operation that starts its type. A workflow of n8n is started once; where nothing shows what became of it, the state is `unknown`, and it is not repeated.",
    },
    hints: { openWorld: true },
    errors: ["NotFound", "Conflict", "NotConfigured", "Unavailable"],
  },
  governance: {
    rule: ({ workflow_id }) => N8N.test(workflow_id) ? "acts-on-the-outside" : "tickets-and-loops",
    delegateTo(input, { operations }) {
      const { success, data } = Trigger.safeParse(input);
      if (!success) return undefined;
      const starter = [...operations.values()].find((one) =>
        one.durability?.startsWorkflow === data.workflow_id
      );
      return starter && { operation: starter.name, input: data.body, field: "body" };
    },
    async resolveStableInput(input, platform) {
      const id = n8nIdOf(input.workflow_id);
      const workflows = await unlessAway(
        id ? platform.outside.soar?.listWorkflows() : undefined,
        [],
      );
      const name = workflows.find((one) => one.id === id)?.name ?? "not named now";
      return { input, about: `n8n's workflow ${id} (${name})` };
    },
    async check({ workflow_id }, context) {
      const id = n8nIdOf(workflow_id);
      if (id === undefined) return await refuse(workflow_id);
      await requireStartable(id, context);
    },
  },
  durability: { recover: (call, platform) => recoverAct(platform, call, toAnswer) },
  example: {
    input: { workflow_id: WORKFLOW.itsmTest, body: { scenario: "crash" } },
    output: { workflow_id: "test-5f0c21ab", run_id: EXAMPLE_RUN_ID, status: "RUNNING" },
  },
  /** Runs for n8n, and where no operation starts the type. */
  async run({ workflow_id, body }, context) {
    const id = n8nIdOf(workflow_id);
    if (id === undefined) return await refuse(workflow_id);
    await requireStartable(id, context);
    const act = { system: "n8n", workflow: id, body } as const;
    return toAnswer(await orderAct(context, act), act);
  },
});

function n8nIdOf(workflowId: string): string | undefined {
  return N8N.exec(workflowId)?.[1];
}

async function requireStartable(id: string, context: Context): Promise<void> {
  const soar = requireSystem("soar", context, "SEALOOP_N8N_URL");
  const path = await soar.findWebhook(id).catch((error: unknown) => {
    if (!(error instanceof RemoteFailed) || error.code !== "refused") throw error;
    throw new Problem("NotFound", `n8n has no workflow ${id}`);
  });
  if (path !== undefined) return;
  throw new Problem(
    "Conflict",
    `Cannot start n8n:${id}: it has to be active, and to begin with a webhook that takes POST at a path without variables`,
  );
}

function toAnswer({ act_id, run_id, state, ...rest }: OrderedAct, act: OutsideAct) {
  const workflow_id = act.system === "n8n" ? `n8n:${act.workflow}` : rest.workflow_id;
  return { ...rest, act_id, run_id, workflow_id, status: state };
}

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
