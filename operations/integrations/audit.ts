import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { systemFor, unlessAway } from "./acts/mod.ts";
import { getHead, listReceipts } from "../../ledger/mod.ts";
import { getDecisionFigures } from "../../store/calls/mod.ts";
import { exampleView, IntegrationView, Timestamp } from "../schemas/mod.ts";

const KEYCLOAK_TRAIL = {
  trail: "keycloak_admin_events" as const,
  entries: null,
  read_with: "keycloak_events, and Keycloak's admin console",
};
const KeycloakEvent = z.object({
  event_id: z.string().nullable(),
  at: Timestamp,
  operation: z.string().describe("CREATE, UPDATE, DELETE or ACTION"),
  resource: z.string().describe("USER, CLIENT, ORGANIZATION, …"),
  path: z.string().nullable().describe("Of the resource in Keycloak's admin API"),
  user_id: z.string().nullable().describe("Who did it, by the id in Keycloak"),
  error: z.string().nullable().describe("Why it was refused; null: it was done"),
});

/** Trails that an auditor can follow. */
export const auditTrails = operation({
  name: "audit.trails",
  group: "integrations",
  summary: "List the trails that an auditor can follow, with their sizes",
  description:
    "The ledger is one for all tenants and public; governance decisions are your tenant's. The operator's own keys also see the " +
    "newest admin events of Keycloak, where that is set.",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: IntegrationView.extend({
    trails: z.array(z.object({
      trail: z.enum(["ledger", "governance_decisions", "keycloak_admin_events"]),
      entries: z.number().int().min(0).nullable().describe("null: they are not counted there"),
      newest_at: Timestamp.nullable().describe("null: it has no entries"),
      read_with: z.string().describe("Where its entries are read"),
    })),
    keycloak_events: z.array(KeycloakEvent).describe(
      "Newest first; empty without Keycloak, and while it does not answer",
    ),
  }),
  rest: { audit_trails: "GET /v1/integrations/audit/trails" },
  presentation: { untrusted: true },
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
      keycloak_events: [],
    },
  },
  run: async (_, context) => {
    const { views, store } = context;
    const keycloak = systemFor("audit", context);
    const [view, { size }, newest, decisions, events] = await Promise.all([
      views.view("audit", context),
      getHead(store),
      listReceipts(store, { limit: 1 }),
      getDecisionFigures(store.db),
      unlessAway(keycloak?.listEvents(), []),
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
        ...(keycloak ? [{ ...KEYCLOAK_TRAIL, newest_at: events[0]?.at ?? null }] : []),
      ],
      keycloak_events: events.map(({ id, userId, ...event }) => ({
        event_id: id,
        ...event,
        user_id: userId,
      })),
    };
  },
});
