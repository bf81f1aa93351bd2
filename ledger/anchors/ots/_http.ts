import { concat } from "./_bytes.ts";
import { SourceFailed } from "./errors.ts";

/** A request, and the limits on its response. */
export interface LimitedRequest {
  /** The name an operator knows the server by, without credentials. */
  readonly source: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent by POST; without a body the method is GET. */
  readonly body?: Uint8Array<ArrayBuffer> | string;
  /** Limit for the whole exchange, > 0. */
  readonly timeoutMs: number;
  /** Maximum bytes of the response body. */
  readonly maxBytes: number;
  /** Ends the request early. */
  readonly signal?: AbortSignal | undefined;
}

/** A complete response. */
interface LimitedResponse {
  readonly status: number;
  readonly bytes: Uint8Array;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Sends a request to a server that is not trusted: over https only (or http on loopback), without redirects, with limits
 * on time and size.
 *
 * @throws {SourceFailed} there was no complete response within the limits
 */
export async function limitedFetch(
  url: string,
  request: LimitedRequest,
): Promise<LimitedResponse> {
  const { source, timeoutMs, signal: outer } = request;
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:" && !(protocol === "http:" && LOOPBACK.test(hostname))) {
    throw new SourceFailed(source, "its address is neither https nor http on loopback");
  }
  return await withTimeout(timeoutMs, async (limit) => {
    try {
      return await send(url, request, outer ? AbortSignal.any([limit, outer]) : limit);
    } catch (error) {
      if (error instanceof SourceFailed) throw error;
      if (limit.aborted) {
        throw new SourceFailed(source, `no complete response within ${timeoutMs} ms`);
      }
      const reason = outer?.aborted ? "no complete response in time" : describeCause(error);
      throw new SourceFailed(source, reason);
    }
  });
}

/**
 * Runs `work` with a signal that fires after a time.
 *
 * `AbortSignal.timeout` will not do: Node 20 may collect one that other signals are made of, and then it never fires.
 *
 * @param ms > 0
 */
export async function withTimeout<T>(
  ms: number,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), ms);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
  }
}

async function send(
  url: string,
  { source, headers = {}, body, maxBytes }: LimitedRequest,
  signal: AbortSignal,
): Promise<LimitedResponse> {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { accept: "*/*", "user-agent": "sealoop", ...headers },
    redirect: "manual",
    credentials: "omit",
    signal,
    ...(body === undefined ? {} : { body }),
  });
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    await response.body?.cancel();
    throw new SourceFailed(source, "it redirects, and redirects are not followed");
  }
  return { status: response.status, bytes: await readBody(response, maxBytes, source) };
}

async function readBody(
  response: Response,
  maxBytes: number,
  source: string,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  if (!response.body) return new Uint8Array();
  for (const reader = response.body.getReader();;) {
    const { done, value } = await reader.read();
    if (done) return concat(...parts);
    size += value.length;
    if (size > maxBytes) {
      await reader.cancel();
      throw new SourceFailed(source, `its response is over ${maxBytes} bytes`);
    }
    parts.push(value);
  }
}

/** Returns a code like ECONNREFUSED; the message of `fetch` itself says less, and may contain the address. */
function describeCause(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === "string" ? `unreachable (${cause.code})` : "unreachable";
}
