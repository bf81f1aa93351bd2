import type { Config } from "../../config.ts";
import { findCredential } from "../channels/mod.ts";
import { openRemoteClient, RemoteFailed } from "../remote/mod.ts";
import { countRejected } from "./_otlp_schema.ts";
import { encodeSpans, type ExportedSpan } from "./_otlp_spans.ts";
import { langfuseCredential } from "./langfuse.ts";

/** Sends spans to a collector. */
export interface SpanExporter {
  /** Name of the collector for people. */
  readonly system: string;
  /** True: the operator wants the collector to have texts of callers as well. */
  readonly sendsTexts: boolean;
  /**
   * Sends spans, those that the sampler takes, with one attempt. A collector knows a span again by its ids.
   *
   * @returns how many it has refused for good
   * @throws {RemoteFailed} they may be sent again; everybody may read the message
   */
  send(spans: readonly ExportedSpan[]): Promise<number>;
}

const SYSTEM = "The collector";
const CONTENT_TYPE = "application/x-protobuf";
const LANGFUSE_PATH = "/api/public/otel/v1/traces";

/** The whole address of the configured collector, without its query; undefined: none is configured. */
export function collectorUrl({ settings }: Pick<Config, "settings">): string | undefined {
  if (settings.OTEL_SDK_DISABLED || settings.OTEL_TRACES_EXPORTER === "none") return undefined;
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, SEALOOP_LANGFUSE_URL: langfuse } = settings;
  return settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ??
    (base === undefined ? undefined : `${base}/v1/traces`) ??
    (langfuse === undefined ? undefined : `${langfuse}${LANGFUSE_PATH}`);
}

/** Opens the exporter; undefined: no collector is configured. */
export function openSpanExporter(
  config: Pick<Config, "settings" | "dataDir">,
): SpanExporter | undefined {
  const url = collectorUrl(config);
  if (url === undefined) return undefined;
  const { settings } = config;
  const { origin, pathname, search } = new URL(url);
  const client = openRemoteClient({
    system: SYSTEM,
    url: origin,
    timeoutMs: settings.OTEL_EXPORTER_OTLP_TIMEOUT,
    credential: () => ({ ...credentialOf(config), ...headersOf(config) }),
  });
  const resource = {
    ...settings.OTEL_RESOURCE_ATTRIBUTES,
    "service.name": settings.OTEL_SERVICE_NAME,
    "deployment.environment.name": settings.SEALOOP_ENVIRONMENT,
  };
  const isSampled = openSampler(settings);
  return {
    system: SYSTEM,
    sendsTexts: settings.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
    async send(spans) {
      const taken = spans.filter(({ traceId }) => isSampled(traceId));
      if (taken.length === 0) return 0;
      try {
        const answer = await client.post({
          path: pathname + search,
          contentType: CONTENT_TYPE,
          bytes: encodeSpans(taken, resource),
        });
        return Math.min(taken.length, rejectedOf(answer));
      } catch (error) {
        if (error instanceof RemoteFailed && error.code === "refused") return taken.length;
        throw error;
      }
    },
  };
}

/** Some collectors answer with nothing, or with words: their status says enough. */
function rejectedOf(answer: Uint8Array): number {
  try {
    return countRejected(answer);
  } catch {
    return 0;
  }
}

/** Name of the collector's credential: a Langfuse without another collector has its own. */
export function collectorCredential(config: Pick<Config, "settings">): "otlp" | "langfuse" {
  const url = collectorUrl(config);
  return url === undefined || url.endsWith(LANGFUSE_PATH) ? "langfuse" : "otlp";
}

function credentialOf(config: Pick<Config, "settings" | "dataDir">): Record<string, string> {
  if (collectorCredential(config) === "langfuse") return langfuseCredential(config);
  const authorization = findCredential(config, "otlp");
  return authorization === undefined ? {} : { authorization };
}

function headersOf({ settings }: Pick<Config, "settings">): Record<string, string> {
  const all = {
    ...settings.OTEL_EXPORTER_OTLP_HEADERS,
    ...settings.OTEL_EXPORTER_OTLP_TRACES_HEADERS,
  };
  return Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

/** Every span of a trace has the same answer. */
function openSampler(
  { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: part }: Config["settings"],
) {
  const ratio = name.endsWith("always_on") ? 1 : name.endsWith("always_off") ? 0 : part;
  return (traceId: string) => parseInt(traceId.slice(-12), 16) < ratio * 2 ** 48;
}
