import { z } from "zod";
import { days, flag, safe } from "./_kinds.ts";

/** `name=value` pairs with commas between, values percent-encoded, as OpenTelemetry writes them. */
const pairs = (about: string) =>
  z.string().default("").transform((text, ctx) => {
    const entries = text.split(",").filter((one) => one.trim() !== "").map((one) => {
      const [name = "", ...value] = one.split("=");
      return [name.trim(), decode(value.join("=").trim())] as const;
    });
    const isRight = ([name, value]: readonly [string, string | undefined]) =>
      /^[\w.-]{1,100}$/.test(name) && value !== undefined && !/[\r\n\0]/.test(value);
    if (entries.every(isRight)) return Object.fromEntries(entries) as Record<string, string>;
    ctx.addIssue("Expected name=value pairs with commas between"); // never the value: it may be a secret
    return z.NEVER;
  }).describe(about);
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Spans, metrics, and the collectors that get them. */
export const OBSERVABILITY_SETTINGS = {
  SEALOOP_SPAN_DAYS: days(7, "Days that spans of calls are kept; 0: for ever"),
  SEALOOP_LANGFUSE_URL: safe(
    "Address of a Langfuse, whose health is shown, and which gets spans where no other collector is set",
  ).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: safe(
    "Address of an OpenTelemetry collector that gets spans, over OTLP/HTTP as protobuf; /v1/traces is added",
  ).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: safe("… or the whole address for spans").optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs("Headers that it is sent, as name=value,…"),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: pairs("… and further ones"),
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce.number().int().min(100).max(60_000).default(10_000)
    .describe("Milliseconds that it has"),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal("http/protobuf", "Expected http/protobuf, the only one")
    .default("http/protobuf").describe("Form of the export"),
  OTEL_TRACES_EXPORTER: z.enum(["otlp", "none"]).default("otlp").describe("none: no export"),
  OTEL_SDK_DISABLED: flag("true: no export"),
  OTEL_SERVICE_NAME: z.string().min(1).max(100).default("sealoop").describe(
    "Name of this platform at the collector",
  ),
  OTEL_RESOURCE_ATTRIBUTES: pairs("Further attributes of this platform, as name=value,…"),
  OTEL_TRACES_SAMPLER: z.enum([
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
  ]).default("parentbased_always_on").describe("Which traces are exported"),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1).describe(
    "Part of the traces, for a sampler by traceidratio",
  ),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag(
    "true: the collector also gets the texts that observability_trace is given",
  ),
  SEALOOP_METRICS: z.coerce.number().int().min(1).max(65530).optional().describe(
    "Port of the gateway's /livez, /readyz and /metrics; the other processes take the next ones; unset: there are none",
  ),
  SEALOOP_METRICS_BIND: z.string().min(1).default("127.0.0.1").describe(
    "Address that these are served on; other than loopback needs TLS and the token",
  ),
  SEALOOP_METRICS_TOKEN: z.string().min(16).optional().describe(
    "Bearer token that whoever reads metrics needs, at least 16 characters",
  ),
};
