import { z } from "zod";
import {
  getPlatformCounts,
  getRepairFigures,
  getRepairHistory,
  getResolutionFigures,
} from "../../store/mod.ts";
import { FULL } from "../_audience.ts";
import { Since } from "../_ticket_shapes.ts";
import { Limit, Sha256, Timestamp } from "../_shapes.ts";
import { operation } from "../../calls/mod.ts";

const group = "itsm";
const Seconds = z.number().nullable().describe("Seconds; null where nothing was resolved");
const Times = z.object({
  resolved: z.number().int().describe("How many were resolved"),
  mean_seconds: Seconds,
  median_seconds: Seconds,
  p90_seconds: Seconds.describe("90th percentile"),
});
const Mttr = Times.extend({
  by_severity: z.record(z.string(), Times),
  by_category: z.record(z.string(), Times).describe("undiagnosed: nobody said what field it is of"),
  by_day: z.array(Times.extend({ day: z.string().describe("YYYY-MM-DD, UTC") }))
    .describe("Days on which some were resolved, oldest first, at most the last 90"),
}).meta({ id: "ResolutionTimes" });
const RepairState = z.enum(["intended", "done", "not_done", "unknown"]);
const Counts = z.record(z.string(), z.number().int());

const times = { resolved: 12, mean_seconds: 2.1, median_seconds: 1.4, p90_seconds: 4 };
const exampleMttr = {
  ...times,
  by_severity: { high: times },
  by_category: { application: times },
  by_day: [{ day: "2026-07-01", ...times }],
};

/** How long resolving takes. */
export const mttr = operation({
  name: "tickets.mttr",
  group,
  summary: "Tell how long tickets take to be resolved: mean, median and 90th percentile",
  description:
    "Of all, by severity, by category, and day by day. From the opening of a ticket to its resolution, " +
    "whether the loop or a person resolved it. Drills (test incidents, practice attacks) are left out.",
  effect: "read",
  access: "public",
  input: z.object({ since: Since.describe("Only tickets resolved since") }),
  output: Mttr,
  rest: { itsm_mttr: "GET /v1/itsm/mttr" },
  tool: { itsm_get_mttr_stats: FULL },
  example: { input: { since: "2026-07-01T00:00:00Z" }, output: exampleMttr },
  run: async ({ since }, { store }) => {
    const figures = await getResolutionFigures(
      store.asPlatform(),
      since ? { since: new Date(since) } : {},
    );
    return { ...figures, by_day: [...figures.by_day] };
  },
});

/** What was done to services. */
export const remediations = operation({
  name: "tickets.remediations",
  group,
  summary: "List repairs, newest first, with the share that helped and the time to resolution",
  description:
    "Those of drills (test incidents, practice attacks) are left out, unless `service` names one.",
  effect: "read",
  access: "key",
  input: z.object({
    service: z.string().min(1).max(100).optional().describe("Only those of this service"),
    since: Since.describe("Only those since"),
    limit: Limit,
  }),
  output: z.object({
    remediations: z.array(z.object({
      id: z.string(),
      ticket_id: z.string(),
      service: z.string(),
      runbook: z.string().nullable(),
      action_sha256: Sha256.describe("What an approval is for"),
      state: RepairState.describe(
        "intended: under way; unknown: nobody can tell whether it happened, and people were asked",
      ),
      verified: z.boolean().nullable().describe("Whether the service was healthy afterwards"),
      undone: z.boolean().describe("Whether any of it was undone"),
      steps: z.array(z.object({
        step: z.string().nullable(),
        state: RepairState,
        code: z.string().nullable(),
        undoes: z.boolean().describe("Whether it undid another one"),
      })),
      intended_at: Timestamp,
      ended_at: Timestamp.nullable(),
    })),
    by_state: Counts.describe("Of all that fit, not of those listed alone"),
    success_rate: z.number().nullable().describe(
      "Share of the ended ones after which the service was healthy; null: none has ended",
    ),
    mttr: Mttr.describe("Of the tickets that fit the same"),
  }),
  rest: { itsm_remediations: "GET /v1/itsm/remediations" },
  tool: { itsm_get_remediation_history: FULL },
  untrusted: true,
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
      mttr: exampleMttr,
    },
  },
  run: async ({ service, since, limit }, { store }) => {
    const from = since ? new Date(since) : undefined;
    const [history, figures] = await Promise.all([
      getRepairHistory(store.asPlatform(), { service, since: from, limit }),
      getResolutionFigures(store.asPlatform(), { since: from, service }),
    ]);
    const repairs = history.remediations.map((repair) => ({ ...repair, steps: [...repair.steps] }));
    return { ...history, remediations: repairs, mttr: { ...figures, by_day: [...figures.by_day] } };
  },
});

/** Everything at a glance. */
export const dashboard = operation({
  name: "itsm.dashboard",
  group,
  summary: "Count tickets, services, approvals and repairs, with the time to resolution",
  description: "Drills (test incidents, practice attacks) are left out.",
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
    mttr: Mttr,
    repair_success_rate: z.number().nullable(),
  }),
  rest: { itsm_dashboard: "GET /v1/itsm/dashboard" },
  tool: { itsm_dashboard_summary: FULL },
  example: {
    input: {},
    output: {
      tickets: { open: 1, resolved: 12, escalated: 1, opened_last_24h: 3, resolved_last_24h: 2 },
      open_by_severity: { high: 1 },
      open_by_category: { database: 1 },
      oldest_open_at: "2026-07-01T12:00:00.000Z",
      services: { up: 5, down: 1 },
      pending_approvals: 1,
      mttr: exampleMttr,
      repair_success_rate: 0.92,
    },
  },
  run: async (_, { store }) => {
    const [counts, figures, { success_rate }] = await Promise.all([
      getPlatformCounts(store.asPlatform()),
      getResolutionFigures(store.asPlatform()),
      getRepairFigures(store.asPlatform()),
    ]);
    const mttr = { ...figures, by_day: [...figures.by_day] };
    return { ...counts, mttr, repair_success_rate: success_rate };
  },
});
