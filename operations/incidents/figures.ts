import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { getRepairFigures, getRepairHistory } from "../../store/incidents/mod.ts";
import { getPlatformCounts, getResolutionFigures } from "../../store/platform/mod.ts";
import { Limit, Sha256, Since, TicketId, Timestamp } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";
import { tellRepairs, tellTimes } from "./_tell.ts";

const Seconds = z.number().nullable().describe("Seconds; null: nothing was resolved");
const Times = z.object({
  resolved: z.number().int().describe("Number of resolved tickets"),
  mean_seconds: Seconds,
  median_seconds: Seconds,
  p90_seconds: Seconds.describe("90th percentile"),
  from_ticket: z.object({
    mean_seconds: Seconds,
    median_seconds: Seconds,
    p90_seconds: Seconds.describe("90th percentile"),
  }).describe("The same times from the opening of the ticket"),
});
const ResolutionTimes = Times.extend({
  by_severity: z.record(z.string(), Times),
  by_category: z.record(z.string(), Times).describe("undiagnosed: tickets without a category"),
  by_day: z.array(Times.extend({ day: z.string().describe("YYYY-MM-DD, UTC") })).describe(
    "The last 90 days on which tickets were resolved, oldest first",
  ),
}).meta({ id: "ResolutionTimes" });
const RepairState = z.enum(["intended", "done", "not_done", "unknown"]);
/** A repair with its steps. */
export const RepairRecord = z.object({
  id: z.string(),
  ticket_id: TicketId,
  service: z.string(),
  runbook: z.string().nullable(),
  action_sha256: Sha256.describe("Hash of the action, by which approvals name it"),
  state: RepairState.describe(
    "intended: under way; unknown: it cannot be proven whether it happened, so people were asked",
  ),
  verified: z.boolean().nullable().describe(
    "Whether the service was healthy afterwards; null: not probed",
  ),
  undone: z.boolean().describe("True: a step of it was undone"),
  steps: z.array(z.object({
    step: z.string().nullable(),
    state: RepairState,
    code: z.string().nullable(),
    undoes: z.boolean().describe("True: the step undid another one"),
  })),
  intended_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
const Counts = z.record(z.string(), z.number().int());

const exampleTime = {
  resolved: 12,
  mean_seconds: 12.1,
  median_seconds: 9.4,
  p90_seconds: 24,
  from_ticket: { mean_seconds: 2.1, median_seconds: 1.4, p90_seconds: 4 },
};
const exampleTimes = {
  ...exampleTime,
  by_severity: { high: exampleTime },
  by_category: { application: exampleTime },
  by_day: [{ day: "2026-07-01", ...exampleTime }],
};

/** Times to resolution. */
export const resolutionTimes = operation({
  name: "tickets.mttr",
  group: "itsm",
  summary: "Get the times to resolution of tickets: mean, median and 90th percentile",
  description:
    "In total, by severity, by category and by day. The time runs from when the service passed its check last to the " +
    "resolution by the loop or a person; where that is not known, and in `from_ticket` always, from the opening of the ticket. Drills (test incidents, practice attacks) are not counted.",
  effect: "read",
  access: "public",
  input: z.object({ since: Since.describe("Only tickets resolved from this time on") }),
  output: ResolutionTimes,
  rest: { itsm_mttr: "GET /v1/itsm/mttr" },
  tool: { itsm_get_mttr_stats: FULL },
  presentation: {
    tell: (times) => [tellTimes(times)],
    toolText: {
      itsm_get_mttr_stats:
        "In total, by severity, category and day, without drills; `from_ticket` counts from the ticket, all else from the last passed check.",
    },
  },
  example: { input: { since: "2026-07-01T00:00:00Z" }, output: exampleTimes },
  run: ({ since }, { store }) =>
    getResolutionFigures(store.db, since ? { since: new Date(since) } : {}),
});

/** Repairs of services. */
export const repairHistory = operation({
  name: "tickets.remediations",
  group: "itsm",
  summary: "List repairs, newest first, with their success rate and the times to resolution",
  description:
    "Repairs of drills (test incidents, practice attacks) are left out, unless `service` names one.",
  effect: "read",
  access: "key",
  input: z.object({
    service: z.string().min(1).max(100).optional().describe("Only repairs of this service"),
    since: Since.describe("Only repairs from this time on"),
    limit: Limit,
  }),
  output: z.object({
    remediations: z.array(RepairRecord),
    by_state: Counts.describe("Number of all repairs that match, also beyond the limit"),
    success_rate: z.number().nullable().describe(
      "Share of the ended repairs after which the service was healthy; null: none has ended",
    ),
    mttr: ResolutionTimes.describe("Of the tickets of the same service and time"),
  }),
  rest: { itsm_remediations: "GET /v1/itsm/remediations" },
  tool: { itsm_get_remediation_history: FULL },
  presentation: {
    toolText: {
      itsm_get_remediation_history:
        "For how successful repairs were, and which services were repaired; without drills, unless `service` names one.",
    },
    tell: ({ remediations, success_rate }) => [
      success_rate === null
        ? "No repair has ended."
        : `${Math.round(success_rate * 100)} % of the ended repairs helped.`,
      ...tellRepairs(remediations),
    ],
    untrusted: true,
  },
  example: {
    input: { limit: 1 },
    output: {
      remediations: [{
        id: "5f0c21ab9d3e4820c17b0a5e",
        ticket_id: "INC-4f1d22a90b7c",
        service: "billing",
        runbook: "restart-service",
        action_sha256: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
        state: "done",
        verified: true,
        undone: false,
        steps: [{ step: "restart", state: "done", code: "exit_0", undoes: false }],
        intended_at: "2026-07-01T12:00:00.300Z",
        ended_at: "2026-07-01T12:00:00.700Z",
      }],
      by_state: { done: 12 },
      success_rate: 1,
      mttr: exampleTimes,
    },
  },
  run: async ({ service, since, limit }, { store }) => {
    const db = store.db;
    const from = since ? new Date(since) : undefined;
    const [history, mttr] = await Promise.all([
      getRepairHistory(db, { service, since: from, limit }),
      getResolutionFigures(db, { since: from, service }),
    ]);
    return { ...history, mttr };
  },
});

/** Counts of everything at a glance. */
export const dashboard = operation({
  name: "itsm.dashboard",
  group: "itsm",
  summary: "Count tickets, services, approvals and repairs, with the times to resolution",
  description: "Drills (test incidents, practice attacks) are not counted.",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    tickets: Counts.describe("open, resolved, escalated, opened_last_24h, resolved_last_24h"),
    open_by_severity: Counts,
    open_by_category: Counts,
    oldest_open_at: Timestamp.nullable(),
    services: Counts.describe("up, down, unknown"),
    pending_approvals: z.number().int(),
    mttr: ResolutionTimes,
    repair_success_rate: z.number().nullable().describe("0 to 1; null: no repair has ended"),
  }),
  rest: { itsm_dashboard: "GET /v1/itsm/dashboard" },
  tool: { itsm_dashboard_summary: FULL },
  presentation: {
    tell: tellDashboard,
    toolText: {
      itsm_dashboard_summary:
        "Numbers alone, without drills; get_platform_briefing names what is open.",
    },
  },
  example: {
    input: {},
    output: {
      tickets: { open: 1, resolved: 12, escalated: 1, opened_last_24h: 3, resolved_last_24h: 2 },
      open_by_severity: { high: 1 },
      open_by_category: { database: 1 },
      oldest_open_at: "2026-07-01T12:00:00.000Z",
      services: { up: 5, down: 1 },
      pending_approvals: 1,
      mttr: exampleTimes,
      repair_success_rate: 0.92,
    },
  },
  run: async (_, { store }) => {
    const db = store.db;
    const [counts, mttr, { success_rate }] = await Promise.all([
      getPlatformCounts(db),
      getResolutionFigures(db),
      getRepairFigures(db),
    ]);
    return { ...counts, mttr, repair_success_rate: success_rate };
  },
});

function tellDashboard(
  { tickets, services, pending_approvals, mttr, repair_success_rate }: {
    readonly tickets: Record<string, number>;
    readonly services: Record<string, number>;
    readonly pending_approvals: number;
    readonly mttr: z.output<typeof ResolutionTimes>;
    readonly repair_success_rate: number | null;
  },
): string[] {
  return [
    `${tickets.open ?? 0} tickets are open, ${tickets.escalated ?? 0} of them with people; ${
      tickets.opened_last_24h ?? 0
    } were opened and ${tickets.resolved_last_24h ?? 0} resolved within a day.`,
    `${services.down ?? 0} services are down, ${
      services.up ?? 0
    } up; ${pending_approvals} approvals wait for people.`,
    tellTimes(mttr),
    ...(repair_success_rate === null
      ? []
      : [`${Math.round(repair_success_rate * 100)} % of the ended repairs helped.`]),
  ];
}
