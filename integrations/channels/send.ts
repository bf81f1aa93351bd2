import type { Config } from "../../config.ts";
import { escapeInvisible, toLine } from "../../contract/mod.ts";
import { openHttpClient, OutboundFailed, OutboundRefused } from "../http/mod.ts";
import type { HttpChannelEntry } from "./comms_file.ts";
import { BadCredential, readCredential } from "./credentials.ts";
import { matrixRequest } from "./_matrix.ts";
import { ntfyRequest } from "./_ntfy.ts";
import type { Notice, NoticeRequest } from "./_requests.ts";
import { slackRequest } from "./_slack.ts";
import { teamsRequest } from "./_teams.ts";
import { webhookRequest } from "./_webhook.ts";

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 64 * 1024;

/** Result of one attempt to tell a channel. */
export interface SendResult {
  /** `unknown`: it may have arrived. */
  readonly state: "delivered" | "not_delivered" | "unknown";
  /** `status_<n>`, or the reason that there was no answer. */
  readonly code: string;
  /** True: another attempt can't change the result. */
  readonly isFinal: boolean;
}

/** Tells a channel, in one attempt. @param channel as `sealoop.comms.yaml` has it */
export async function sendNotice(
  config: Pick<Config, "settings" | "dataDir">,
  channel: HttpChannelEntry,
  notice: Notice,
  signal?: AbortSignal,
): Promise<SendResult> {
  try {
    const { url, ...request } = requestFor(config, channel, escapeNotice(notice));
    const allowHosts = URL.canParse(url) ? [new URL(url).hostname.replace(/^\[|\]$/g, "")] : [];
    const http = openHttpClient({ allow: config.settings.SEALOOP_OUTBOUND_ALLOW, allowHosts });
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_RESPONSE_BYTES };
    const { status } = await http.request(url, {
      ...request,
      ...limits,
      ...(signal && { signal }),
    });
    return resultOf(status);
  } catch (error) {
    return resultOfError(error);
  }
}

/** @throws {BadCredential} */
function requestFor(
  config: Pick<Config, "settings" | "dataDir">,
  channel: HttpChannelEntry,
  notice: Notice,
): NoticeRequest {
  const read = (name: string) => readCredential(config, name);
  const readOptional = (name: string | undefined) => name === undefined ? undefined : read(name);
  if ("slack" in channel) return slackRequest(read(channel.slack.credential), notice);
  if ("teams" in channel) return teamsRequest(read(channel.teams.credential), notice);
  if ("matrix" in channel) {
    return matrixRequest(channel.matrix, read(channel.matrix.credential), notice);
  }
  if ("ntfy" in channel) {
    return ntfyRequest(channel.ntfy, readOptional(channel.ntfy.credential), notice);
  }
  return webhookRequest(channel.webhook, readOptional(channel.webhook.credential), notice);
}

/** Shows what can't be seen: a text must not pose as another one, nor a subject as several lines. */
function escapeNotice({ from, subject, text, ...notice }: Notice): Notice {
  return {
    ...notice,
    from: toLine(from),
    subject: toLine(subject),
    text: escapeInvisible(text),
  };
}

function resultOf(status: number): SendResult {
  const code = `status_${status}`;
  if (status >= 200 && status < 300) return { state: "delivered", code, isFinal: true };
  if (status === 429) return { state: "not_delivered", code, isFinal: false };
  if (status === 408 || status >= 500) return { state: "unknown", code, isFinal: false };
  return { state: "not_delivered", code, isFinal: true };
}

/** Codes of the system where a connection was not made, so that nothing has arrived. */
const NOT_CONNECTED: readonly (string | undefined)[] = [
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
];

function resultOfError(error: unknown): SendResult {
  if (error instanceof BadCredential) {
    return { state: "not_delivered", code: "no_credential", isFinal: true };
  }
  if (error instanceof OutboundRefused) {
    return { state: "not_delivered", code: `refused_${error.code}`, isFinal: true };
  }
  if (!(error instanceof OutboundFailed)) throw error;
  const { code, systemCode } = error;
  const isUnsent = code === "unresolvable" || code === "tls" || NOT_CONNECTED.includes(systemCode);
  return { state: isUnsent ? "not_delivered" : "unknown", code, isFinal: false };
}
