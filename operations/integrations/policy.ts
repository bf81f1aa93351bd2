import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { DECISIONS } from "../../contract/domain/mod.ts";
import { getDecisionFigures, listDecisions } from "../../store/calls/mod.ts";
import {
  exampleDecision,
  exampleView,
  GovernedCall,
  IntegrationView,
  Limit,
  toGovernedCall,
} from "../schemas/mod.ts";

/** The view of the policy, with decisions. */
export const policyDecisions = operation({
  name: "policy.decisions",
  group: "integrations",
  summary: "Show the policy's state and the newest decisions about your tenant's calls",
  effect: "read",
  access: "key",
  input: z.object({ limit: Limit }),
  output: IntegrationView.extend({
    counts: z.object(
      Object.fromEntries(DECISIONS.map((name) => [name, z.number().int().min(0)])) as Record<
        typeof DECISIONS[number],
        z.ZodNumber
      >,
    ).describe("Of the last 24 hours, by decision"),
    decisions: z.array(GovernedCall).describe("Newest first"),
  }),
  rest: {
    policy_decisions: "GET /v1/integrations/policy/decisions",
    policy_alias: "GET /v1/integrations/policy",
  },
  example: {
    input: { limit: 1 },
    output: {
      ...exampleView,
      integration: "policy",
      detail: "Calls are decided on by policy version 3; 0 stops",
      counts: { allow: 41, needs_approval: 2, deny: 1 },
      decisions: [exampleDecision],
    },
  },
  run: async ({ limit }, context) => {
    const { store, views } = context;
    const [view, { counts }, decisions] = await Promise.all([
      views.view("policy", context),
      getDecisionFigures(store.db),
      listDecisions(store.db, { limit }),
    ]);
    return { ...view, counts, decisions: decisions.map(toGovernedCall) };
  },
});
