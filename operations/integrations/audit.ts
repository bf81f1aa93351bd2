import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { getHead, listReceipts } from "../../ledger/mod.ts";
import { getDecisionFigures } from "../../store/mod.ts";
import { exampleView, IntegrationView, Timestamp } from "../schemas/mod.ts";

/** Trails that an auditor can follow. */
export const auditTrails = operation({
  name: "audit.trails",
  group: "integrations",
  summary: "List the trails that an auditor can follow, with their sizes",
  description:
    "The ledger is one for all tenants and public; governance decisions are your tenant's.",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: IntegrationView.extend({
    trails: z.array(z.object({
      trail: z.enum(["ledger", "governance_decisions"]),
      entries: z.number().int().min(0),
      newest_at: Timestamp.nullable().describe("null: it has no entries"),
      read_with: z.string().describe("Where its entries are read"),
    })),
  }),
  rest: { audit_trails: "GET /v1/integrations/audit/trails" },
  example: {
    input: {},
    output: {
      ...exampleView,
      integration: "audit",
      detail: "1042 receipts; no break is known",
      trails: [{
        trail: "ledger",
        entries: 1042,
        newest_at: "2026-07-01T12:00:00.000000+00:00",
        read_with: "GET /v1/ledger",
      }],
    },
  },
  run: async (_, { views, store }) => {
    const [view, { size }, newest, decisions] = await Promise.all([
      views.view("audit"),
      getHead(store),
      listReceipts(store, { limit: 1 }),
      getDecisionFigures(store.db),
    ]);
    return {
      ...view,
      trails: [
        {
          trail: "ledger" as const,
          entries: size,
          newest_at: newest[0] ? String(JSON.parse(newest[0].text).timestamp) : null,
          read_with: "GET /v1/ledger",
        },
        {
          trail: "governance_decisions" as const,
          entries: decisions.total,
          newest_at: decisions.newestAt?.toISOString() ?? null,
          read_with: "GET /v1/governance/decisions",
        },
      ],
    };
  },
});
