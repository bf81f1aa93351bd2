import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { INTEGRATIONS } from "../../contract/domain/mod.ts";
import { exampleView, IntegrationView, tellView, Timestamp } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** The views of all integrations. */
export const integrationStatus = operation({
  name: "integrations.all",
  group: "integrations",
  summary: "Show how each integration is, in which form it works, and what is missing",
  description:
    "Each is probed by itself, for 3 seconds at most; what a probe found is repeated for 30 seconds. " +
    "An integration without a form of the platform's own and without a setting says `not_configured`. " +
    "All but the operator's own keys see the built-in forms.",
  effect: "read",
  access: "public",
  input: z.object({
    name: z.enum(INTEGRATIONS).optional().describe("Only this integration"),
  }),
  output: z.object({ checked_at: Timestamp, integrations: z.array(IntegrationView) }),
  rest: { integrations_all: "GET /v1/integrations/all" },
  tool: { integration_status: FULL },
  presentation: {
    tell: ({ integrations }) => integrations.map(tellView),
    toolText: {
      integration_status:
        "One that has neither a form of the platform's own nor a setting says not_configured.",
    },
  },
  example: {
    input: {},
    output: { checked_at: "2026-07-01T12:00:01.000Z", integrations: [exampleView] },
  },
  run: async ({ name }, context) => {
    const { views } = context;
    const integrations = name ? [await views.view(name, context)] : await views.all(context);
    return { checked_at: new Date().toISOString(), integrations };
  },
});

/** The view of the knowledge base. */
export const ragHealth = operation({
  name: "rag.health",
  group: "integrations",
  summary: "Check whether questions can be answered from the knowledge base",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: IntegrationView,
  tool: { rag_health: FULL },
  presentation: { tell: (view) => [tellView(view)] },
  example: { input: {}, output: exampleView },
  run: async (_, context) => await context.views.view("rag", context),
});

/** The view of the workflows that can be started. */
export const soarHealth = operation({
  name: "soar.health",
  group: "integrations",
  summary: "Check whether workflows can be started",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: IntegrationView,
  tool: { soar_health: FULL },
  presentation: { tell: (view) => [tellView(view)] },
  example: {
    input: {},
    output: { ...exampleView, integration: "soar", detail: "9 workflow types can be started" },
  },
  run: async (_, context) => await context.views.view("soar", context),
});
