import { Readable } from "node:stream";
import { exportReceipts, getHead } from "../receipts/mod.ts";
import type Router from "@koa/router";
import { z } from "zod";
import { InvalidInput, parseInput, parseStrings, withLocations } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";

/** Media type of one JSON value a line. */
export const NDJSON = "application/x-ndjson";

const Range = z.object({
  from: z.number().int().min(0).default(0),
  to: z.number().int().min(0).optional(),
});
const PAGE = 200;
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Gives `/api/export` as one receipt a line to whoever asks for `application/x-ndjson`: all from `from` on, however many,
 * byte for byte, in constant memory. Who was cut off goes on from the position after the last whole line.
 */
export function bindExportStream<S>(router: Router<S>, store: Store): void {
  router.get("export_stream", "/api/export", async (ctx, next) => {
    ctx.vary("accept");
    if (!ctx.get("accept").includes(NDJSON)) return await next();
    const { from, to } = rangeOf(ctx.query as Record<string, string>);
    const { size } = await getHead(store);
    const end = Math.min(to ?? size, size);
    ctx.type = NDJSON;
    ctx.set({ "x-ledger-size": String(size), "cache-control": "no-cache" });
    ctx.body = Readable.from(lines(store, from, end), {
      objectMode: false,
      highWaterMark: 1 << 16,
    });
  });
}

function rangeOf(query: Readonly<Record<string, string>>): z.output<typeof Range> {
  try {
    return parseInput(Range, parseStrings(Range, query)) as z.output<typeof Range>;
  } catch (error) {
    const places = { names: Object.keys(Range.shape), placeOf: () => "query" as const };
    throw error instanceof InvalidInput ? withLocations(error, places) : error;
  }
}

async function* lines(store: Store, from: number, end: number): AsyncGenerator<string> {
  for (let at = from; at < end;) {
    const found = await exportReceipts(
      store,
      { from: at, to: Math.min(end, at + PAGE) },
      MOST_BYTES,
    );
    if (found.length === 0) throw new Error(`There is no receipt ${at}`);
    for (const { text } of found) yield `${text}\n`;
    at = found.at(-1)!.position + 1;
  }
}
