import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import { type HttpClient, openHttpClient, OutboundFailed, OutboundRefused } from "../http/mod.ts";
import { type CircuitBreaker, openCircuitBreaker } from "./circuit_breaker.ts";
import { RemoteFailed } from "./errors.ts";

/** A request to a system of others. */
export interface RemoteRequest<Answer> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, behind the system's address; begins with a slash. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The shape of the answer that is needed; other fields are left out. */
  readonly answer: z.ZodType<Answer>;
}

/** A client of one system of others. */
export interface RemoteClient {
  /**
   * Reads, whatever the method. What fails for a moment is tried again after a pause, within the time limit.
   *
   * @throws {RemoteFailed}
   */
  read<Answer>(request: RemoteRequest<Answer>): Promise<Answer>;
  /**
   * Acts, with one attempt.
   *
   * @throws {RemoteFailed} its `outcome` tells whether it may have been done
   */
  act<Answer>(request: RemoteRequest<Answer>): Promise<Answer>;
  /** Describes that the system is not asked for now, as it failed again and again; undefined: it is asked. */
  pause(): string | undefined;
}

/** The system, and how it is asked. */
export interface RemoteOptions {
  /** Name for people: `OPA`. */
  readonly system: string;
  /** Address that the operator has set, without a slash at the end. Its host may be in any network. */
  readonly url: string;
  /** Returns the headers that carry the credential; called for each request, so that it can be replaced. */
  readonly credential?: () => Readonly<Record<string, string>>;
  /** For a read with all its attempts, or for an act. */
  readonly timeoutMs?: number;
  readonly breaker?: CircuitBreaker;
}

const TIMEOUT_MS = 2_500;
const MAX_ATTEMPTS = 3;
const PAUSE_MS = 100;
const MAX_BYTES = 1024 * 1024;
const DEFAULT_RETRY_AFTER_MS = 1_000;

/** Opens a client. Nothing is connected. */
export function openRemoteClient(options: RemoteOptions): RemoteClient {
  const { system, url, timeoutMs = TIMEOUT_MS, breaker = openCircuitBreaker() } = options;
  const http = openHttpClient({ allowHosts: [new URL(url).hostname.replace(/^\[|\]$/g, "")] });

  /** Sends a request once, unless the system is paused. */
  async function attempt<Answer>(request: RemoteRequest<Answer>, msLeft: number): Promise<Answer> {
    const waitMs = breaker.enter();
    if (waitMs > 0) throw new RemoteFailed(system, "paused", describePause(waitMs), "not_done");
    try {
      const answer = await exchange(http, options, request, msLeft);
      breaker.succeed();
      return answer;
    } catch (error) {
      breaker.fail(error instanceof RemoteFailed ? error.retryAfterMs : undefined);
      throw error;
    }
  }

  return {
    async read(request) {
      const deadline = performance.now() + timeoutMs;
      for (let n = 1;; n++) {
        try {
          return await attempt(request, Math.max(1, Math.floor(deadline - performance.now())));
        } catch (error) {
          const pauseMs = PAUSE_MS * 2 ** n * (0.5 + Math.random());
          const isLate = performance.now() + pauseMs >= deadline;
          if (n === MAX_ATTEMPTS || isLate || !isPassing(error)) throw error;
          await sleep(pauseMs);
        }
      }
    },
    act: (request) => attempt(request, timeoutMs),
    pause() {
      const waitMs = breaker.pausedMs();
      return waitMs > 0 ? `${system} ${describePause(waitMs)}` : undefined;
    },
  };
}

function describePause(waitMs: number): string {
  return `failed again and again, and is asked again in ${Math.ceil(waitMs / 1_000)} s`;
}

/** Returns whether a failure may be over in a moment. */
function isPassing(error: unknown): boolean {
  return error instanceof RemoteFailed && ["unreachable", "failed"].includes(error.code);
}

/** @throws {RemoteFailed} */
async function exchange<Answer>(
  http: HttpClient,
  { system, url, credential = () => ({}) }: RemoteOptions,
  { method, path, body, answer }: RemoteRequest<Answer>,
  timeoutMs: number,
): Promise<Answer> {
  const fail = (code: string, about: string, outcome: "not_done" | "unknown", waitMs?: number) =>
    new RemoteFailed(system, code, about, outcome, waitMs);
  let headers: Record<string, string>;
  try {
    headers = { accept: "application/json", "user-agent": "sealoop/1", ...credential() };
  } catch { // the error may name a path
    throw fail("credential", "can't be asked: its credential can't be read", "not_done");
  }
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await http.request(url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    timeoutMs,
    maxBytes: MAX_BYTES,
  }).catch((error: unknown) => {
    throw toRemoteFailure(error, fail);
  });
  const { status } = response;
  if (status >= 300 && status < 400) {
    throw fail("redirect", `redirects (${status}), which is not followed`, "not_done");
  }
  if (status === 401 || status === 403) {
    throw fail("credential", `does not accept our credential (${status})`, "not_done");
  }
  if (status === 429) {
    const waitMs = retryAfterMs(response.headers["retry-after"]);
    const about = `limits our requests, and wants ${Math.ceil(waitMs / 1_000)} s without`;
    throw fail("limited", about, "not_done", waitMs);
  }
  if (status >= 500) throw fail("failed", `answered ${status}`, "unknown");
  if (status < 200 || status >= 300) throw fail("refused", `answered ${status}`, "not_done");
  const type = response.headers["content-type"] ?? "";
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) {
    throw fail("not_json", "gave an answer that is not JSON", "unknown");
  }
  const parsed = answer.safeParse(parseJson(response.body.toString()));
  if (!parsed.success) throw fail("shape", "gave an answer of another shape", "unknown");
  return parsed.data;
}

function toRemoteFailure(
  error: unknown,
  fail: (code: string, about: string, outcome: "not_done" | "unknown") => RemoteFailed,
): unknown {
  if (error instanceof OutboundRefused) {
    return fail("address", "may not be reached at its address", "not_done");
  }
  if (!(error instanceof OutboundFailed)) return error;
  switch (error.code) {
    case "timeout":
      return fail("timeout", "did not answer in time", "unknown");
    case "too_large":
      return fail("too_large", "gave an answer that is too large", "unknown");
    case "tls":
      return fail("tls", "has no certificate that can be trusted", "not_done");
    case "unresolvable":
      return fail("unreachable", "has a name that can't be resolved", "not_done");
    default: {
      const isRefused = error.systemCode === "ECONNREFUSED";
      return fail("unreachable", "can't be reached", isRefused ? "not_done" : "unknown");
    }
  }
}

/** Parses `Retry-After`: seconds, or a date. */
function retryAfterMs(header: string | undefined): number {
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header ?? "") - Date.now();
  return ms > 0 ? ms : DEFAULT_RETRY_AFTER_MS;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
