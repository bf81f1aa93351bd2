import type { Context } from "koa";
import type { RequestState } from "../../runtime/web/mod.ts";
import { isValid, type Sender } from "../auth.ts";
import { drained } from "../http.ts";
import type { A2aHandlerParts } from "./handlers.ts";
import type { Envelope } from "./request.ts";
import type { EventStream } from "./sdk_handler.ts";

/** The media type of streamed responses. */
export const EVENT_STREAM = "text/event-stream";

/** Sends events as they come, with heartbeats, until the stream ends, the client leaves or its key is no longer valid. */
export async function sendEvents<C>(
  ctx: Context,
  first: IteratorResult<Envelope, void>,
  rest: EventStream,
  { heartbeatMs, auth }: Pick<A2aHandlerParts<C>, "auth"> & { readonly heartbeatMs: number },
  { credential }: Sender,
): Promise<void> {
  const { res } = ctx;
  const { address } = ctx.state as RequestState;
  ctx.respond = false;
  res.writeHead(200, {
    "content-type": `${EVENT_STREAM}; charset=utf-8`,
    "cache-control": "no-cache, no-store",
    "x-accel-buffering": "no",
  });
  const timer = setInterval(async () => {
    res.write(": alive\n\n");
    if (!await isValid(auth, credential, address)) res.destroy();
  }, heartbeatMs).unref();
  try {
    for (let step = first; !step.done; step = await rest.next()) {
      if (res.closed) break;
      if (!res.write(toEvent(step.value))) await drained(res);
    }
    res.end();
  } catch {
    res.destroy();
  } finally {
    clearInterval(timer);
    await rest.return(undefined).catch(() => {});
  }
}

/** Formats a response as an event. */
export const toEvent = (envelope: Envelope): string => `data: ${JSON.stringify(envelope)}\n\n`;
