import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { DECISIONS } from "../../contract/domain/mod.ts";
import { listDecisions } from "../../store/calls/mod.ts";
import { exampleDecision, GovernedCall, Limit, toGovernedCall } from "../schemas/mod.ts";

/** Governance decisions about the calls of the caller's tenant. */
export const governanceDecisions = operation({
  name: "governance.decisions",
  group: "governance",
  summary: "List the governance decisions about your tenant's calls, newest first",
  description:
    "Governance decides on every call that changes something, before the call runs. Each decision names its own receipt, " +
    "and the receipt of the call's end.",
  effect: "read",
  access: "key",
  input: z.object({
    decision: z.enum(DECISIONS).optional().describe("Only decisions of this kind"),
    tool: z.string().min(1).max(200).optional().describe(
      "Only calls of this tool, or over REST of this operation id",
    ),
    approval_id: z.string().min(1).max(40).optional().describe(
      "Only decisions that refer to this approval",
    ),
    limit: Limit,
  }),
  output: z.object({
    decisions: z.array(GovernedCall),
  }),
  rest: { governance_decisions: "GET /v1/governance/decisions" },
  example: {
    input: { decision: "deny" },
    output: {
      decisions: [exampleDecision],
    },
  },
  run: async ({ decision, tool, approval_id, limit }, { store }) => {
    const filter = { decision, tool, approvalId: approval_id, limit };
    const decisions = await listDecisions(store.db, filter);
    return { decisions: decisions.map(toGovernedCall) };
  },
});
