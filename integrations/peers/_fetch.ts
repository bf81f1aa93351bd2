import { type HttpClient, OutboundFailed, OutboundRefused } from "../http/mod.ts";

/** Longest wait for one response. */
const TIMEOUT_MS = 20_000;
/** Failures by which nothing of a request has reached the server. */
const NOT_SENT = new Set(["unresolvable", "tls"]);
const NOT_CONNECTED = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"]);

/** End of the last request, as far as it is known. */
export interface LastExchange {
  /** Undefined: there was none. */
  end?: {
    /** HTTP status; undefined: there is no response. */
    readonly status?: number;
    /** Code of JSON-RPC's error in the response. */
    readonly error?: number | undefined;
    /** Code of the failure, where there is no response. */
    readonly failure?: string;
    /** True: the server provably did not get the request. */
    readonly notSent?: boolean;
  };
}

/**
 * Returns a `fetch` over the guarded client. It reaches the origin of one address alone, so that a card can't send a
 * credential elsewhere.
 *
 * @param last is told how each request ended
 */
export function fetchWithin(
  http: HttpClient,
  base: string,
  token: string | undefined,
  last: LastExchange,
): typeof fetch {
  const { origin } = new URL(base);
  return async (input, init = {}) => {
    const url = new URL(String(input));
    const headers = Object.fromEntries(new Headers(init.headers));
    try {
      if (url.origin !== origin) throw new OutboundRefused("origin", `Expected ${origin}`);
      const { status, headers: answered, body } = await http.request(url.href, {
        method: (init.method ?? "GET") as "GET" | "POST",
        headers: { ...headers, ...(token ? { authorization: `Bearer ${token}` } : {}) },
        ...(typeof init.body === "string" ? { body: init.body } : {}),
        timeoutMs: TIMEOUT_MS,
        ...(init.signal ? { signal: init.signal } : {}),
      });
      const text = body.toString();
      last.end = { status, error: errorCodeOf(text) };
      const type = answered["content-type"] ?? "application/json";
      return new Response(text, { status, headers: { "content-type": type } });
    } catch (error) {
      last.end = failureOf(error);
      throw error;
    }
  };
}

function failureOf(error: unknown): LastExchange["end"] {
  if (error instanceof OutboundRefused) return { failure: error.code, notSent: true };
  if (!(error instanceof OutboundFailed)) return { failure: "aborted" };
  const { code, systemCode = "" } = error;
  return { failure: code, notSent: NOT_SENT.has(code) || NOT_CONNECTED.has(systemCode) };
}

function errorCodeOf(text: string): number | undefined {
  try {
    const code = JSON.parse(text)?.error?.code;
    return typeof code === "number" ? code : undefined;
  } catch {
    return undefined;
  }
}
