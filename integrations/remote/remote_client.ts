import type { z } from "zod";
import { Problem, withTimeout } from "../../contract/mod.ts";
import { parseApart, type ParsedKind } from "../strangers/mod.ts";
import { type HttpClient, openHttpClient, type OutboundResponse } from "../http/mod.ts";
import { checkStatus, failureOf, hostOf, readHeaders, toRemoteFailure } from "./_exchange.ts";
import type { CircuitBreaker } from "./circuit_breaker.ts";
import { openGuard } from "./guard.ts";

/** A request to a system of others. */
interface RemoteRequest<Answer> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, behind the system's address; begins with a slash. */
  readonly path: string;
  /** Besides the credential. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a form instead. */
  readonly form?: Readonly<Record<string, string>>;
  /** The shape of the answer that is needed; other fields are left out. Default: the status alone is needed. */
  readonly answer?: z.ZodType<Answer>;
  /** Kind of an answer that strangers have a part in: it is parsed apart. Default: it is JSON, parsed here. */
  readonly parsedAs?: ParsedKind;
  /** Called with the headers of a successful answer. */
  readonly onHeaders?: (headers: OutboundResponse["headers"]) => void;
}

/** A request of bytes in a form of their own. */
interface BytesRequest {
  readonly path: string;
  /** Type of the bytes, and of the answer. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** A client of one system of others. */
export interface RemoteClient {
  /**
   * Reads, whatever the method. What fails for a moment is tried again after a pause, within the time limit.
   *
   * @throws {RemoteFailed}
   */
  read<Answer = void>(request: RemoteRequest<Answer>): Promise<Answer>;
  /**
   * Acts, with one attempt.
   *
   * @throws {RemoteFailed} its `outcome` tells whether it may have been done
   */
  act<Answer = void>(request: RemoteRequest<Answer>): Promise<Answer>;
  /**
   * Posts bytes, with one attempt.
   *
   * @returns the bytes of the answer
   * @throws {RemoteFailed} as `act`
   */
  post(request: BytesRequest): Promise<Buffer>;
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
  /** True: a status that refuses proves nothing, as programs of others choose it. */
  readonly isStatusFree?: boolean;
  /** Most bytes of an answer; default 1 MiB. */
  readonly maxBytes?: number;
  /** Default: one of its own. */
  readonly breaker?: CircuitBreaker;
}

const MAX_BYTES = 1024 * 1024;

/** Opens a client. Nothing is connected. */
export function openRemoteClient(options: RemoteOptions): RemoteClient {
  const guard = openGuard(options);
  const http = openHttpClient({ allowHosts: [hostOf(options.url)] });
  return {
    read: (request) => guard.read((msLeft) => exchange(http, options, request, msLeft)),
    act: (request) => guard.act((msLeft) => exchange(http, options, request, msLeft)),
    post: ({ path, contentType, bytes }) =>
      guard.act(async (msLeft) => {
        const sent = { type: contentType, body: bytes };
        const headers = { accept: contentType };
        return (await send(http, options, { method: "POST", path, headers, sent }, msLeft)).body;
      }),
    pause: () => guard.pause(),
  };
}

/** Exchanges JSON. @throws {RemoteFailed} */
async function exchange<Answer>(
  http: HttpClient,
  options: RemoteOptions,
  request: RemoteRequest<Answer>,
  timeoutMs: number,
): Promise<Answer> {
  const { method, path, answer } = request;
  const fail = failureOf(options.system);
  const deadline = performance.now() + timeoutMs;
  const response = await send(http, options, {
    method,
    path,
    headers: { accept: "application/json", ...request.headers },
    sent: bodyOf(request),
    ignoreBody: answer === undefined,
  }, timeoutMs);
  request.onHeaders?.(response.headers);
  if (answer === undefined) return undefined as Answer;
  const type = response.headers["content-type"] ?? "";
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) {
    throw fail("not_json", "gave an answer that is not JSON", "unknown");
  }
  if (request.parsedAs) {
    const msLeft = Math.max(1, deadline - performance.now());
    const input = { bytes: response.body, timeoutMs: msLeft };
    // By the clock, too: who asks has no more time, however busy the machine is.
    const apart = await withTimeout(msLeft, parseApart(request.parsedAs, input, answer))
      .catch((error: Error) => {
        throw error instanceof Problem
          ? fail("not_read", `gave an answer that is not read: ${error.message}`, "unknown")
          : fail("too_slow", "gave an answer that takes too long to read", "unknown");
      });
    if ("value" in apart) return apart.value;
    const { code, about } = apart.refusal;
    throw fail(code, `gave an answer that can't be read: ${about}`, "unknown");
  }
  const parsed = answer.safeParse(parseJson(response.body.toString()));
  if (!parsed.success) throw fail("shape", "gave an answer of another shape", "unknown");
  return parsed.data;
}

/** A request as it is sent. */
interface RawRequest extends Pick<RemoteRequest<unknown>, "method" | "path"> {
  readonly headers: Readonly<Record<string, string>>;
  readonly sent: { readonly type: string; readonly body: string | Uint8Array } | undefined;
  readonly ignoreBody?: boolean;
}

/** Sends a request. @returns a response of success @throws {RemoteFailed} */
async function send(
  http: HttpClient,
  options: RemoteOptions,
  { method, path, headers, sent, ignoreBody = false }: RawRequest,
  timeoutMs: number,
): Promise<OutboundResponse> {
  const fail = failureOf(options.system);
  const response = await http.request(options.url + path, {
    method,
    headers: {
      ...headers,
      ...readHeaders(options, fail),
      ...sent && { "content-type": sent.type },
    },
    ...sent && { body: sent.body },
    timeoutMs,
    maxBytes: options.maxBytes ?? MAX_BYTES,
    ignoreBody,
  }).catch((error: unknown) => {
    throw toRemoteFailure(error, fail);
  });
  checkStatus(
    response,
    options.isStatusFree ? (code, about) => fail(code, about, "unknown") : fail,
  );
  return response;
}

function bodyOf({ body, form }: Pick<RemoteRequest<unknown>, "body" | "form">) {
  if (form) {
    const type = "application/x-www-form-urlencoded";
    return { type, body: new URLSearchParams(form).toString() };
  }
  return body === undefined ? undefined : { type: "application/json", body: JSON.stringify(body) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
