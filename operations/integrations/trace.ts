import { createHash } from "node:crypto";
import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { maskTexts } from "../models/use/mod.ts";
import { recoverNoted } from "../../calls/recover/mod.ts";
import type { ExportedSpan } from "../../integrations/observability/mod.ts";
import { RemoteFailed } from "../../integrations/remote/mod.ts";
import { randomHex, requestSeal } from "../../ledger/mod.ts";
import { noteCallEffects } from "../../store/calls/mod.ts";
import { addReportedSpan, hasTrace, markSpanExported } from "../../store/platform/mod.ts";
import { text } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

const MAX_CHARACTERS = 100_000;
const MAX_DURATION_MS = 86_400_000;
const CODE = /^[A-Za-z0-9][A-Za-z0-9._:\/@+-]{0,127}$/;
const Tokens = z.number().int().min(0).max(1_000_000_000).optional();

const Metadata = z.looseObject({
  provider: z.string().regex(CODE).optional().describe("As OpenTelemetry names it: openai, …"),
  input_tokens: Tokens,
  output_tokens: Tokens,
  duration_ms: z.number().min(0).max(MAX_DURATION_MS).optional().describe(
    "How long the model took; it has just ended",
  ),
  trace_id: z.string().regex(/^[0-9a-f]{32}$/).optional().describe(
    "Of a trace that it belongs to: one that your tenant has here, or one of your own, for which the answer names ours",
  ),
  parent_id: z.string().regex(/^[0-9a-f]{16}$/).optional().describe(
    "Of the span that it is part of",
  ),
});

const Input = z.object({
  input: text(0, MAX_CHARACTERS).describe("What the model was asked"),
  output: text(0, MAX_CHARACTERS).describe("What it has answered"),
  model: z.string().regex(CODE).describe("Name of the model"),
  metadata: Metadata.default({}).describe("Fields besides these are kept as evidence alone"),
});

/** The input of {@linkcode observabilityTrace}. */
type Input = z.output<typeof Input>;

/** Stores a use of a model. */
export const observabilityTrace = operation({
  name: "observability.trace",
  group: "integrations",
  summary: "Store a use of a model as a span, with a receipt that commits to its texts",
  description:
    "The receipt holds ids and counts, and salted commitments to input, output, model and metadata, whose texts are private " +
    "evidence; personal data and keys in them are masked first. Where a collector is configured, the span is sent to it with one attempt. " +
    "A span that it did not take is sent again later, without texts; `exported` is null where that is not known, and the " +
    "collector then tells by `trace_id`.",
  effect: "write",
  access: "key",
  input: Input,
  output: z.object({
    trace_id: z.string(),
    span_id: z.string(),
    exported: z.boolean().nullable().describe(
      "Whether the collector has it; false: it has not, or none is configured; null: nobody knows",
    ),
    receipt_id: z.string(),
  }),
  tool: { observability_trace: FULL },
  presentation: {
    toolText: {
      observability_trace:
        "The receipt holds ids, counts and commitments; the texts stay private, with personal data and keys masked.",
    },
    hints: { destructive: false, openWorld: true },
  },
  governance: { rule: "key-decides" },
  durability: {
    receipt: (output) => {
      const { trace_id, exported } = output as { trace_id: string; exported: boolean | null };
      return { trace_id, exported: exported === null ? "unknown" : exported ? "done" : "not_done" };
    },
    // Its own receipt keeps the texts.
    asEvidence: ({ model }) => ({ model }),
    recover: (call, platform) =>
      recoverNoted(platform, call, ({ ids }) => ({ ...ids, exported: null })),
  },
  example: {
    input: {
      input: "What does ENOSPC mean?",
      output: "A write failed because the file system has no space left.",
      model: "gpt-5.4-mini",
      metadata: { provider: "openai", duration_ms: 820 },
    },
    output: {
      trace_id: "4f1d1e0b2a9c4c7c8d0e6b5a49382716",
      span_id: "9d0a3c5e7f1b2846",
      exported: false,
      receipt_id: "9f2c4b7a01d3e8569f2c4b7a01d3e856",
    },
  },
  async run(given, context) {
    const { store, caller, decisionId, door } = context;
    const { input, output, model, metadata } = maskTexts(given);
    const span = spanOf(given, door, await ownTraceId(given, store));
    const { traceId, spanId, receiptId, inputTokens, outputTokens } = span;
    const ids = { trace_id: traceId, span_id: spanId, receipt_id: receiptId };
    await store.db.transaction(async (trx) => {
      await addReportedSpan(trx, span);
      await requestSeal(trx, {
        id: receiptId,
        category: "trace_recorded",
        actor: `key:${caller.keyId}`,
        subject: `trace:${traceId}`,
        action: "observability.trace",
        outcome: "stored",
        details: {
          trace_id: traceId,
          span_id: spanId,
          input_tokens: inputTokens,
          output_tokens: outputTokens,
        },
        evidence: { input, output, model, metadata },
      });
      await noteCallEffects(trx, decisionId, ids);
    });
    const exported = await exportAtOnce(context, span, { input, output });
    if (exported) await markSpanExported(store.db, traceId, spanId);
    return { ...ids, exported };
  },
});

/** Returns the trace of a span. An id that the tenant does not have gets one derived, as it may be another tenant's. */
async function ownTraceId({ metadata }: Input, { db, tenant }: Context["store"]): Promise<string> {
  const { trace_id } = metadata;
  if (trace_id === undefined) return randomHex(32);
  if (await hasTrace(db, trace_id)) return trace_id;
  return createHash("sha256").update(`${tenant}/${trace_id}`).digest("hex").slice(0, 32);
}

function spanOf({ model, metadata }: Input, door: Context["door"], traceId: string) {
  const endedAt = new Date();
  return {
    traceId,
    spanId: randomHex(16),
    parentId: metadata.parent_id ?? null,
    kind: "reported" as const,
    name: "chat",
    door,
    error: null,
    startedAt: new Date(endedAt.getTime() - (metadata.duration_ms ?? 0)),
    endedAt,
    provider: metadata.provider ?? null,
    model,
    inputTokens: metadata.input_tokens ?? null,
    outputTokens: metadata.output_tokens ?? null,
    costMicro: null,
    receiptId: randomHex(32),
    workflowId: null,
    runId: null,
  };
}

/** Sends a span with one attempt. @returns null: nobody knows whether the collector has it */
async function exportAtOnce(
  { exporter, log }: Pick<Context, "exporter" | "log">,
  span: ExportedSpan,
  texts: { readonly input: string; readonly output: string },
): Promise<boolean | null> {
  if (!exporter) return false;
  try {
    return await exporter.send([{ ...span, ...(exporter.sendsTexts ? { texts } : {}) }]) === 0;
  } catch (err) {
    log.warn({ err }, "A reported span was not exported");
    return err instanceof RemoteFailed && err.outcome === "unknown" ? null : false;
  }
}
