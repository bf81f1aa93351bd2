import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import {
  listSpans,
  SPAN_KINDS,
  type SpanFigures,
  type SpanRecord,
} from "../../store/platform/mod.ts";
import { exampleView, IntegrationView, ReceiptId, Timestamp, WorkflowId } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

const TraceId = z.string().regex(/^[0-9a-f]{32}$/).describe("Id of a trace");
const SpanId = z.string().regex(/^[0-9a-f]{16}$/);

const Span = z.object({
  trace_id: TraceId,
  span_id: SpanId,
  parent_id: SpanId.nullable().describe("null: it began the trace"),
  kind: z.enum(SPAN_KINDS),
  name: z.string().describe("Of the operation, the workflow or the step; chat for a model"),
  door: z.string().nullable(),
  error: z.string().nullable().describe("null: it succeeded"),
  started_at: Timestamp,
  duration_ms: z.number().min(0),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  input_tokens: z.number().int().nullable(),
  output_tokens: z.number().int().nullable(),
  cost_micro: z.number().int().nullable().describe("Millionths of a US dollar"),
  receipt_id: z.string().nullable(),
  workflow_id: z.string().nullable(),
  run_id: z.string().nullable(),
});

const Figures = z.object({
  traces_24h: z.number().int().min(0).describe("Calls, loops and reported uses of models"),
  errors: z.number().int().min(0).describe("… that ended with an error, refused calls included"),
  tokens: z.number().int().min(0).nullable().describe("null: without a key"),
  cost_micro: z.number().int().min(0).nullable().describe(
    "Millionths of a US dollar, as far as prices are known; null: without a key",
  ),
  p50_ms: z.number().nullable().describe("Of calls; null: there were none"),
  p95_ms: z.number().nullable(),
});

const exampleFigures: z.output<typeof Figures> = {
  traces_24h: 412,
  errors: 3,
  tokens: 18_240,
  cost_micro: 31_020,
  p50_ms: 6.1,
  p95_ms: 48.7,
};

const exampleSpans: z.output<typeof Span>[] = [{
  trace_id: "4f1d1e0b2a9c4c7c8d0e6b5a49382716",
  span_id: "9d0a3c5e7f1b2846",
  parent_id: null,
  kind: "call",
  name: "itsm.loop",
  door: "rest",
  error: null,
  started_at: "2026-07-01T12:00:00.000Z",
  duration_ms: 12,
  provider: null,
  model: null,
  input_tokens: null,
  output_tokens: null,
  cost_micro: null,
  receipt_id: "9f2c4b7a01d3e856",
  workflow_id: "loop-3f8a91c2",
  run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10",
}];

/** Traces in figures, and those that a receipt or a run belongs to. */
export const observabilitySummary = operation({
  name: "observability.summary",
  group: "integrations",
  summary: "Count your tenant's traces of the last 24 hours, and show those of a receipt or a run",
  description:
    "Spans are calls, uses of models, loops with their steps, and what `observability_trace` was given. With `trace_id`, " +
    "`receipt_id` or `workflow_id`, and a key, the spans of the traces are listed that such a span belongs to: at most 20 " +
    "traces and 500 spans. Each names its receipt and its run. Figures are at most 30 seconds old.",
  effect: "read",
  access: "public",
  input: z.object({
    trace_id: TraceId.optional(),
    receipt_id: ReceiptId.optional().describe("Whole id of a receipt"),
    workflow_id: WorkflowId.optional(),
  }),
  output: IntegrationView.extend(Figures.shape).extend({ spans: z.array(Span) }),
  rest: { observability_summary: "GET /v1/integrations/observability/summary" },
  example: {
    input: { workflow_id: "loop-3f8a91c2" },
    output: {
      ...exampleView,
      integration: "observability",
      detail: "412 traces in 24 hours, 3 errors among them",
      ...exampleFigures,
      spans: exampleSpans,
    },
  },
  run: async ({ trace_id, receipt_id, workflow_id }, context) => {
    const { views, spans, store, caller } = context;
    const hasKey = caller.keyId !== null;
    const isAsked = hasKey && (trace_id ?? receipt_id ?? workflow_id) !== undefined;
    const filter = { traceId: trace_id, receiptId: receipt_id, workflowId: workflow_id };
    const [view, figures, found] = await Promise.all([
      views.view("observability", context),
      spans.figures(store.db),
      isAsked ? listSpans(store.db, filter) : [],
    ]);
    const use = hasKey ? {} : { tokens: null, cost_micro: null };
    return { ...view, ...toFigures(figures), ...use, spans: found.map(toOutput) };
  },
});

/** The view of the traces. */
export const observabilityHealth = operation({
  name: "observability.health",
  group: "integrations",
  summary: "Check whether traces are kept, and whether the collector takes them",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: IntegrationView,
  tool: { observability_health: FULL },
  example: {
    input: {},
    output: { ...exampleView, integration: "observability", detail: "412 traces in 24 hours" },
  },
  run: async (_, context) => await context.views.view("observability", context),
});

function toFigures(figures: SpanFigures): z.output<typeof Figures> {
  return {
    traces_24h: figures.traces,
    errors: figures.errors,
    tokens: figures.tokens,
    cost_micro: figures.costMicro,
    p50_ms: figures.p50Ms,
    p95_ms: figures.p95Ms,
  };
}

function toOutput(span: SpanRecord): z.output<typeof Span> {
  return {
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_id: span.parentId,
    kind: span.kind,
    name: span.name,
    door: span.door,
    error: span.error,
    started_at: span.startedAt.toISOString(),
    duration_ms: Math.max(0, span.endedAt.getTime() - span.startedAt.getTime()),
    provider: span.provider,
    model: span.model,
    input_tokens: span.inputTokens,
    output_tokens: span.outputTokens,
    cost_micro: span.costMicro,
    receipt_id: span.receiptId,
    workflow_id: span.workflowId,
    run_id: span.runId,
  };
}
