/** Spans in OpenTelemetry's form, with its names for generative AI. */
import type { SpanRecord } from "../../store/platform/mod.ts";
import { encodeRequest } from "./_otlp_schema.ts";

/** Texts of a conversation with a model. */
interface SpanTexts {
  readonly input: string;
  readonly output: string;
}

/** A span to export. */
export interface ExportedSpan extends SpanRecord {
  /** Absent: no texts are exported. */
  readonly texts?: SpanTexts | undefined;
}

type Value = string | number | boolean | null | undefined;

const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;
/** The parent, if there is one, is a span of ours. */
const HAS_IS_REMOTE = 0x100;

/** Encodes spans for a collector. @param resource attributes of the platform */
export function encodeSpans(
  spans: readonly ExportedSpan[],
  resource: Readonly<Record<string, string>>,
): Uint8Array {
  return encodeRequest({
    resourceSpans: [{
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [{ scope: { name: "sealoop" }, spans: spans.map(toOtlp) }],
    }],
  });
}

function toOtlp(span: ExportedSpan) {
  return {
    traceId: Buffer.from(span.traceId, "hex"),
    spanId: Buffer.from(span.spanId, "hex"),
    parentSpanId: Buffer.from(span.parentId ?? "", "hex"),
    name: nameOf(span),
    kind: span.kind === "call" ? SERVER : isModel(span) ? CLIENT : INTERNAL,
    startTimeUnixNano: nanoseconds(span.startedAt),
    endTimeUnixNano: nanoseconds(span.endedAt),
    attributes: attributesOf({ ...ownAttributes(span), ...genAiAttributes(span) }),
    ...(span.error === null ? {} : { status: { code: ERROR, message: span.error } }),
    flags: HAS_IS_REMOTE,
  };
}

const isModel = ({ kind }: SpanRecord) => kind === "model" || kind === "reported";
const isTool = ({ kind, door }: SpanRecord) => kind === "call" && door !== "rest";

/** @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ */
function nameOf(span: SpanRecord): string {
  if (isModel(span)) return `chat ${span.model ?? ""}`.trim();
  return isTool(span) ? `execute_tool ${span.name}` : span.name;
}

function ownAttributes(span: SpanRecord): Record<string, Value> {
  return {
    "sealoop.kind": span.kind,
    "sealoop.door": span.door,
    "sealoop.receipt_id": span.receiptId,
    "sealoop.workflow_id": span.workflowId,
    "sealoop.run_id": span.runId,
    "sealoop.cost_micro": span.costMicro,
    "error.type": span.error,
  };
}

function genAiAttributes(span: ExportedSpan): Record<string, Value> {
  if (isTool(span)) {
    return {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": span.name,
      "gen_ai.tool.type": "function",
    };
  }
  if (!isModel(span)) return {};
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": span.provider,
    "gen_ai.request.model": span.model,
    "gen_ai.response.model": span.model,
    "gen_ai.usage.input_tokens": span.inputTokens,
    "gen_ai.usage.output_tokens": span.outputTokens,
    "gen_ai.input.messages": span.texts && messages("user", span.texts.input),
    "gen_ai.output.messages": span.texts && messages("assistant", span.texts.output),
  };
}

function messages(role: string, content: string): string {
  return JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
}

function attributesOf(values: Readonly<Record<string, Value>>) {
  return Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: anyValue(value) }]
  );
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

const nanoseconds = (at: Date) => `${at.getTime()}000000`;
