/** Conversations with the model of a provider, as one stream of parts whatever the provider. */
import type { Settings } from "../../../config.ts";
import type { ModelProvider } from "../../../contract/domain/mod.ts";
import { anthropicChat } from "./_anthropic.ts";
import { ollamaChat } from "./_ollama.ts";
import { openaiChat } from "./_openai.ts";
import { endpointOf, isLocalEndpoint } from "./endpoint.ts";
import type { ChatPart, ChatProvider, ChatRequest } from "./provider.ts";

/** A provider that is configured. */
export interface Chat {
  readonly provider: ModelProvider;
  /** The model that the settings name. */
  readonly defaultModel: string;
  /** True where the provider's own servers answer, at their prices. */
  readonly isOfficial: boolean;
  /** True where it is on this machine. */
  readonly isLocal: boolean;
  /**
   * Has a model continue a conversation, with one attempt. It is asked when the first part is read; a reader who stops
   * aborts it.
   *
   * @param silenceMs longest time between two parts, > 0
   * @throws {ChatFailure}
   */
  ask(request: ChatRequest, silenceMs: number, signal: AbortSignal): AsyncGenerator<ChatPart>;
}

/** Reason why an answer failed. */
export type ChatFailureCode =
  | "unreachable" // the request was not sent
  | "refused" // the provider answered with an HTTP status
  | "silent"
  | "cut_off"
  | "malformed"
  | "aborted";

/** A provider gave no answer, or not all of it. The message repeats nothing that was sent or answered. */
export class ChatFailure extends Error {
  override readonly name = "ChatFailure";
  /** @param status HTTP status, where it is `refused` @param retryAfter seconds that the provider asks for */
  constructor(
    readonly code: ChatFailureCode,
    readonly status?: number,
    readonly retryAfter?: number,
  ) {
    super(status === undefined ? code : `${code} with ${status}`);
  }
}

const PROVIDERS: Readonly<Record<ModelProvider, ChatProvider>> = {
  anthropic: anthropicChat,
  openai: openaiChat,
  ollama: ollamaChat,
};

const OFFICIAL_HOST = /^api\.(anthropic|openai)\.com$/;

/** Opens a provider's conversations; undefined: it is not configured. */
export function openChat(settings: Settings, provider: ModelProvider): Chat | undefined {
  const endpoint = endpointOf(settings, provider);
  if (!endpoint) return undefined;
  return {
    provider,
    defaultModel: endpoint.model,
    isOfficial: OFFICIAL_HOST.test(new URL(endpoint.url).hostname),
    isLocal: isLocalEndpoint(endpoint),
    async *ask(request, silenceMs, signal) {
      const stop = new AbortController();
      const abort = () => stop.abort();
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      let isSilent = false;
      const startWatch = () =>
        setTimeout(() => {
          isSilent = true;
          abort();
        }, silenceMs);
      const send = await PROVIDERS[provider](endpoint);
      let watch = startWatch();
      try {
        let isWhole = false;
        for await (const part of send(request, stop.signal)) {
          clearTimeout(watch); // the reader may take its time
          isWhole ||= part.stopReason !== undefined;
          yield part;
          watch = startWatch();
        }
        if (!isWhole) throw new ChatFailure("cut_off");
      } catch (error) {
        throw failureOf(error, isSilent, signal.aborted);
      } finally {
        clearTimeout(watch);
        signal.removeEventListener("abort", abort);
        abort();
      }
    },
  };
}

/** Codes of Node for a connection that was never made. */
const UNREACHABLE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_.*|.*_CERT.*)$/;

function failureOf(error: unknown, isSilent: boolean, isAborted: boolean): ChatFailure {
  if (isAborted) return new ChatFailure("aborted");
  if (isSilent) return new ChatFailure("silent");
  const { status, status_code } = error as { status?: unknown; status_code?: unknown };
  const answered = [status, status_code].find((one) => typeof one === "number");
  if (typeof answered === "number") {
    return new ChatFailure("refused", answered, retryAfterOf(error));
  }
  if (causesOf(error).some(({ code }) => typeof code === "string" && UNREACHABLE.test(code))) {
    return new ChatFailure("unreachable");
  }
  if (error instanceof SyntaxError || error instanceof TypeError && !error.cause) {
    return new ChatFailure("malformed");
  }
  return new ChatFailure("cut_off");
}

function retryAfterOf(error: unknown): number | undefined {
  const { headers } = error as { headers?: unknown };
  const value = headers instanceof Headers ? headers.get("retry-after") : null;
  return value !== null && /^\d{1,5}$/.test(value) ? Number(value) : undefined;
}

function causesOf(error: unknown): { readonly code?: unknown }[] {
  const causes: { readonly code?: unknown }[] = [];
  for (let one = error; one instanceof Error && causes.length < 8; one = one.cause) {
    causes.push(one as { code?: unknown });
    if (one instanceof AggregateError) causes.push(...one.errors);
  }
  return causes;
}
