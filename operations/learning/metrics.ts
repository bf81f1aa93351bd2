import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { LEARNING_BOUNDS } from "../../judgement/engine/mod.ts";
import { getLearningMetrics } from "../../store/learning/mod.ts";
import { Timestamp } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

const RepairShare = z.object({
  tickets: z.number().int(),
  mended: z.number().int(),
  share: z.number().min(0).max(1).nullable().describe("Null: there were no tickets"),
});

/** Results of learning. */
export const learningMetrics = operation({
  name: "learning.metrics",
  group: "learning",
  summary: "Measure learning over the last year, and what improved by it",
  description:
    "`recurring` compares the duration of recurring faults before and after something was learned from them. " +
    "`with_past_incident` counts the tickets whose diagnosis cited a past incident, and those of them that were repaired.",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    items: z.object({
      dropped: z.number().int(),
      queued: z.number().int(),
      applied: z.number().int(),
    }),
    applied_by_people: z.number().int(),
    mean_score: z.number().nullable(),
    oldest_waiting_at: Timestamp.nullable(),
    past_incidents: z.number().int().describe("Number of past incidents in the knowledge base"),
    recurring: z.object({
      faults: z.number().int(),
      median_seconds_before: z.number().nullable(),
      median_seconds_after: z.number().nullable(),
    }),
    with_past_incident: RepairShare,
    without_past_incident: RepairShare,
    by_week: z.array(z.object({
      week: z.string().describe("Monday of the week, YYYY-MM-DD"),
      made: z.number().int(),
      applied: z.number().int(),
    })),
    bounds: z.object({
      queued_from: z.number().describe("Lowest score that people decide about"),
      applied_above: z.number().describe("Highest score that people decide about"),
    }),
  }),
  rest: { learning_metrics: "GET /v1/learning/metrics" },
  tool: { get_learning_metrics: FULL },
  presentation: {
    toolText: { get_learning_metrics: "By items, weeks, and what past incidents changed." },
  },
  example: {
    input: {},
    output: {
      items: { dropped: 2, queued: 3, applied: 11 },
      applied_by_people: 4,
      mean_score: 74.5,
      oldest_waiting_at: "2026-07-01T12:00:00.000Z",
      past_incidents: 9,
      recurring: { faults: 2, median_seconds_before: 340, median_seconds_after: 21.5 },
      with_past_incident: { tickets: 5, mended: 5, share: 1 },
      without_past_incident: { tickets: 20, mended: 14, share: 0.7 },
      by_week: [{ week: "2026-06-29", made: 16, applied: 11 }],
      bounds: { queued_from: LEARNING_BOUNDS.queued, applied_above: LEARNING_BOUNDS.applied },
    },
  },
  run: async (_, { store }) => {
    const { with_past_incident, without, ...metrics } = await getLearningMetrics(
      store.db,
    );
    return {
      ...metrics,
      with_past_incident: withShare(with_past_incident),
      without_past_incident: withShare(without),
      bounds: { queued_from: LEARNING_BOUNDS.queued, applied_above: LEARNING_BOUNDS.applied },
    };
  },
});

function withShare({ tickets, mended }: { readonly tickets: number; readonly mended: number }) {
  const share = tickets === 0 ? null : Math.round(100 * mended / tickets) / 100;
  return { tickets, mended, share };
}
