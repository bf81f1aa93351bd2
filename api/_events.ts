import { Readable } from "node:stream";
import type { Context } from "koa";
import type { EventStream, StreamEvent } from "../contract/mod.ts";

/** Time without progress after which a client is disconnected that takes nothing. It can resume. */
const STUCK_MS = 60_000;
/** Pause after which a client connects again. */
const RETRY_MS = 1_000;

/**
 * Sends server-sent events. An event is read when the client has taken the ones before, so that a slow client fills no
 * memory.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function sendEvents(ctx: Context, { events }: EventStream): void {
  ctx.type = "text/event-stream; charset=utf-8";
  ctx.set({ "cache-control": "no-store", "x-accel-buffering": "no" }); // proxies must not wait for more
  ctx.res.setTimeout(STUCK_MS, () => ctx.res.destroy());
  ctx.body = Readable.from(formatEvents(events), { objectMode: true, highWaterMark: 1 });
  ctx.flushHeaders();
}

async function* formatEvents(events: AsyncIterable<StreamEvent>): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  for await (const event of events) yield formatEvent(event);
}

function formatEvent({ id, event, data }: StreamEvent): string {
  if (data === undefined) return ":\n\n";
  return [
    ...(event === undefined ? [] : [`event: ${event}\n`]),
    ...(id === undefined ? [] : [`id: ${id}\n`]),
    `data: ${data}\n\n`,
  ].join("");
}
