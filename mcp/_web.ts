import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import type { Context } from "koa";

/** Headers of the protocol. No other is handed on to its SDKs, least of all the key. */
const HEADERS = [
  "accept",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
];
/** Longest that the head of an answer waits for the first event, to go out with it. */
const HEAD_MS = 20;
/** Longest that a client may leave a stream unread before it is given up. */
const UNREAD_MS = 60_000;

/** The request as the web's standard has it, without query, key and body. @param signal aborted when the client leaves */
export function webRequest(ctx: Context, signal?: AbortSignal): Request {
  const headers = HEADERS.flatMap((name) => {
    const value = ctx.get(name);
    return value === "" ? [] : [[name, value] as [string, string]];
  });
  const { method, path } = ctx;
  return new Request(`http://localhost${path}`, { method, headers, ...(signal && { signal }) });
}

/** Aborts when the client closes its connection before it is answered. */
export function untilGone({ res }: Context): AbortSignal {
  const gone = new AbortController();
  res.once("close", () => {
    if (!res.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** Gives an answer of the web's standard. Resolves when the client has it, or has left. */
export async function give(ctx: Context, response: Response): Promise<void> {
  const { status, headers, body } = response;
  for (const [name, value] of headers) {
    if (name !== "connection") ctx.set(name, value);
  }
  if (headers.get("content-type")?.startsWith("text/event-stream") && body) {
    ctx.respond = false;
    ctx.res.writeHead(status);
    return await pump(body, ctx.res);
  }
  ctx.body = body ? await response.text() : null;
  ctx.status = status;
  for (const [name, value] of headers) {
    if (name === "content-type") ctx.set(name, value); // a text's own type is what Koa would put in its place
  }
}

async function pump(body: ReadableStream<Uint8Array>, res: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  res.once("close", leave);
  const head = setTimeout(() => res.flushHeaders(), HEAD_MS);
  try {
    await workFirst();
    if (res.closed) return leave();
    for (;;) {
      const { done, value } = await reader.read();
      clearTimeout(head);
      if (done) break;
      if (!res.write(value)) await drained(res);
    }
    res.end();
  } catch {
    res.destroy();
  } finally {
    clearTimeout(head);
  }
}

/**
 * Lets what was just begun send what it asks of others, so that they work on it while this process answers; without it a
 * call waits a tenth longer. What is asked for in one turn of the event loop is sent at its end.
 */
export async function workFirst(): Promise<void> {
  await turn();
  await turn();
}

/** Resolves when the client has read; a client that reads nothing is cut off. */
function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => res.destroy(), UNREAD_MS);
    const go = () => {
      clearTimeout(timer);
      res.off("drain", go).off("close", go);
      resolve();
    };
    res.once("drain", go).once("close", go);
  });
}
