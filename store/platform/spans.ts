/** Spans: of calls, of what callers report, of uses of models, and of loops with their steps. */
import { createHash, randomBytes } from "node:crypto";
import type { Db } from "../connection.ts";

/** A call that has ended. */
export interface CallSpan {
  readonly tenant: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Name of the operation. */
  readonly name: string;
  readonly door: string;
  /** Name of the problem; null: it succeeded. */
  readonly error: string | null;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly receiptId: string | null;
  /** Id of the run that it started. */
  readonly workflowId: string | null;
  readonly runId: string | null;
}

/** A use of a model that a caller tells of. */
export interface ReportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly door: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly provider: string | null;
  readonly model: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly receiptId: string;
}

/** Kinds of spans. */
export const SPAN_KINDS = ["call", "model", "loop", "step", "reported"] as const;

/** Any span. */
export interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly kind: typeof SPAN_KINDS[number];
  readonly name: string;
  readonly door: string | null;
  readonly error: string | null;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly provider: string | null;
  readonly model: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Millionths of a US dollar. */
  readonly costMicro: number | null;
  readonly receiptId: string | null;
  readonly workflowId: string | null;
  readonly runId: string | null;
}

/**
 * Returns the ids of a call's span. Those of a call that was decided about derive from its decision, as SQL derives them
 * for the model that the call asked.
 */
export function spanIdsOf(
  decisionId: string | undefined,
): { readonly traceId: string; readonly spanId: string } {
  if (decisionId === undefined) {
    return { traceId: randomBytes(16).toString("hex"), spanId: randomBytes(8).toString("hex") };
  }
  const md5 = (text: string) => createHash("md5").update(text).digest("hex");
  return { traceId: md5(decisionId), spanId: md5(`${decisionId}/call`).slice(0, 16) };
}

/** Adds calls of any tenants, by one statement. */
export async function recordCallSpans(db: Db, spans: readonly CallSpan[]): Promise<void> {
  await db.execute({ name: "record_spans", text: "SELECT record_spans($1)" }, [
    JSON.stringify(spans),
  ]);
}

/** Adds a span that a caller tells of. @param trx the transaction that requests its receipt */
export async function addReportedSpan(trx: Db, span: ReportedSpan): Promise<void> {
  await trx.execute(
    `INSERT INTO spans (tenant_id, trace_id, span_id, parent_id, kind, name, door, started_at, ended_at, provider, model,
       input_tokens, output_tokens, receipt_id)
     VALUES (current_tenant(), $1, $2, $3, 'reported', $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      span.traceId,
      span.spanId,
      span.parentId,
      span.name,
      span.door,
      span.startedAt,
      span.endedAt,
      span.provider,
      span.model,
      span.inputTokens,
      span.outputTokens,
      span.receiptId,
    ],
  );
}

/** Counts of the spans that began in the last 24 hours. */
export interface SpanFigures {
  /** Calls, loops and reported spans that began a trace. */
  readonly traces: number;
  readonly errors: number;
  readonly tokens: number;
  readonly costMicro: number;
  /** Median duration of calls in milliseconds; null: there were none. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** Counts a tenant's spans of the last 24 hours. */
export async function getSpanFigures(db: Db): Promise<SpanFigures> {
  const row = await db.first(
    `SELECT count(*) FILTER (WHERE parent_id IS NULL)::int AS traces,
       count(*) FILTER (WHERE parent_id IS NULL AND error IS NOT NULL)::int AS errors,
       coalesce(sum(input_tokens + output_tokens), 0)::float8 AS tokens,
       coalesce(sum(cost_micro), 0)::float8 AS cost,
       percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - started_at)::float8 * 1000)
         FILTER (WHERE kind = 'call') AS percentiles
     FROM all_spans() WHERE ended_at > now() - interval '1 day'`,
  );
  const [p50, p95] = row!.percentiles ?? [];
  const round = (ms: number | null | undefined) =>
    typeof ms === "number" ? Math.round(ms * 10) / 10 : null;
  return {
    traces: row!.traces,
    errors: row!.errors,
    tokens: row!.tokens,
    costMicro: row!.cost,
    p50Ms: round(p50),
    p95Ms: round(p95),
  };
}

/** Selects traces. */
export interface TraceFilter {
  readonly traceId?: string | undefined;
  readonly receiptId?: string | undefined;
  readonly workflowId?: string | undefined;
}

const MAX_TRACES = 20;
const MAX_SPANS = 500;

/** Lists the spans of the newest traces that have such a span, oldest first. At most 20 traces, and 500 spans. */
export async function listSpans(
  db: Db,
  { traceId, receiptId, workflowId }: TraceFilter,
): Promise<SpanRecord[]> {
  const traces = traceId === undefined
    ? (await db.query<{ trace_id: string }>(
      `SELECT trace_id FROM all_spans()
       WHERE ($1::text IS NULL OR receipt_id = $1) AND ($2::text IS NULL OR workflow_id = $2)
       GROUP BY trace_id ORDER BY max(started_at) DESC LIMIT ${MAX_TRACES}`,
      [receiptId, workflowId],
    )).map((row) => row.trace_id)
    : [traceId];
  return (await db.query(
    `SELECT * FROM all_spans() WHERE trace_id = ANY ($1) ORDER BY started_at, ended_at DESC LIMIT ${MAX_SPANS}`,
    [traces],
  )).map(toSpan);
}

/** Returns whether a tenant has spans of a trace. */
export async function hasTrace(db: Db, traceId: string): Promise<boolean> {
  return await db.first("SELECT 1 FROM all_spans() WHERE trace_id = $1 LIMIT 1", [traceId]) !==
    undefined;
}

/** Reads a row of the view of all spans. */
// deno-lint-ignore no-explicit-any -- a row becomes a record
export function toSpan(row: any): SpanRecord {
  const number = (value: string | null) => value === null ? null : Number(value);
  return {
    traceId: row.trace_id,
    spanId: row.span_id,
    parentId: row.parent_id,
    kind: row.kind,
    name: row.name,
    door: row.door,
    error: row.error,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    provider: row.provider,
    model: row.model,
    inputTokens: number(row.input_tokens),
    outputTokens: number(row.output_tokens),
    costMicro: number(row.cost_micro),
    receiptId: row.receipt_id,
    workflowId: row.workflow_id,
    runId: row.run_id,
  };
}

/** Deletes spans of all tenants that ended this many days ago. */
export async function pruneSpans(db: Db, days: number): Promise<void> {
  if (days === 0) return;
  const part = 5_000;
  for (let deleted = part; deleted === part;) {
    const row = await db.first<{ deleted: string }>(
      "SELECT prune_spans(now() - make_interval(days => $1), $2) AS deleted",
      [days, part],
    );
    deleted = Number(row!.deleted);
  }
}
