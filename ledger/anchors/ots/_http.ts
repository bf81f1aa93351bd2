import { concat } from "./_bytes.ts";
import { within } from "./_within.ts";
import { SourceFailed } from "./errors.ts";

/** A request, and what is accepted of its answer. */
export interface Guarded {
  /** What an operator knows the other side by, without credentials. */
  readonly source: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent by POST; without it by GET. */
  readonly body?: Uint8Array<ArrayBuffer> | string;
  /** Milliseconds for all of it, > 0. */
  readonly timeoutMs: number;
  /** Most bytes of the answer. */
  readonly maxBytes: number;
  /** Ends it before its time. */
  readonly signal?: AbortSignal | undefined;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Asks a server that is not trusted: https alone (plain http on loopback), no redirects, within a time and a size.
 *
 * @throws {SourceFailed} it did not answer within those
 */
export async function guardedFetch(
  url: string,
  guarded: Guarded,
): Promise<Answer> {
  const { source, timeoutMs, signal: outer } = guarded;
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:" && !(protocol === "http:" && LOOPBACK.test(hostname))) {
    throw new SourceFailed(source, "only https is asked, and http on loopback");
  }
  return await within(timeoutMs, async (limit) => {
    try {
      return await ask(url, guarded, outer ? AbortSignal.any([limit, outer]) : limit);
    } catch (error) {
      if (error instanceof SourceFailed) throw error;
      if (limit.aborted) throw new SourceFailed(source, `no whole answer within ${timeoutMs} ms`);
      throw new SourceFailed(source, outer?.aborted ? "no whole answer in time" : causeOf(error));
    }
  });
}

/** What a server says, whole. */
interface Answer {
  readonly status: number;
  readonly bytes: Uint8Array;
}

async function ask(
  url: string,
  { source, headers = {}, body, maxBytes }: Guarded,
  signal: AbortSignal,
): Promise<Answer> {
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
    throw new SourceFailed(source, "it redirects, which is not followed");
  }
  return { status: response.status, bytes: await readUpTo(response, maxBytes, source) };
}

async function readUpTo(response: Response, most: number, source: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  if (!response.body) return new Uint8Array();
  for (const reader = response.body.getReader();;) {
    const { done, value } = await reader.read();
    if (done) return concat(...parts);
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new SourceFailed(source, `its answer is over ${most} bytes`);
    }
    parts.push(value);
  }
}

/** A code like ECONNREFUSED, as the message of `fetch` itself says nothing, and may name the address. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === "string" ? `unreachable (${cause.code})` : "unreachable";
}
