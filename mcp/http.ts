import type { ServerResponse } from "node:http";
import type { Context } from "koa";

/** Headers that are passed on to the protocol SDKs. The key is not among them. */
const PROTOCOL_HEADERS = [
  "accept",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
];
/** Time for which a client may leave a stream unread before its connection is closed. */
const UNREAD_TIMEOUT_MS = 60_000;

/** Converts a request to a web-standard one without query, key and body. @param signal aborted when the client leaves */
export function toWebRequest(ctx: Context, signal?: AbortSignal): Request {
  const headers = PROTOCOL_HEADERS.flatMap((name) => {
    const value = ctx.get(name);
    return value === "" ? [] : [[name, value] as [string, string]];
  });
  const { method, path } = ctx;
  const request = new Request(`http://localhost${path}`, {
    method,
    headers,
    ...(signal && { signal }),
  });
  // The SDKs want both types by name: neither a wildcard nor silence will do.
  if (TYPES.every((type) => ctx.accepts(type))) request.headers.set("accept", TYPES.join(", "));
  return request;
}

/** Types of answers, both of which a client takes. */
const TYPES = ["application/json", "text/event-stream"];

/** Sends a web-standard response. Resolves when the client has received it, or has left. */
export async function sendWebResponse(ctx: Context, response: Response): Promise<void> {
  const { status, headers, body } = response;
  for (const [name, value] of headers) {
    if (name !== "connection") ctx.set(name, value);
  }
  if (headers.get("content-type")?.startsWith("text/event-stream") && body) {
    ctx.respond = false;
    ctx.res.writeHead(status);
    return await sendStream(body, ctx.res);
  }
  ctx.body = body ? await response.text() : null;
  ctx.status = status;
  const type = headers.get("content-type");
  if (type !== null) ctx.set("content-type", type); // setting a body has replaced it
}

async function sendStream(body: ReadableStream<Uint8Array>, res: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  if (res.closed) return cancel();
  res.once("close", cancel);
  res.flushHeaders(); // the first event may be late
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!res.write(value)) await drained(res);
    }
    res.end();
  } catch {
    res.destroy();
  }
}

/** Resolves when the client has read what was written, or has left. A client that reads nothing is disconnected. */
export function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => res.destroy(), UNREAD_TIMEOUT_MS);
    const finish = () => {
      clearTimeout(timer);
      res.off("drain", finish).off("close", finish);
      resolve();
    };
    res.once("drain", finish).once("close", finish);
  });
}
