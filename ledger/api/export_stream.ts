import { Readable } from "node:stream";
import type Router from "@koa/router";
import { z } from "zod";
import { InvalidInput, parseInput, parseStrings, withLocations } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";
import { getPublicSize } from "../log/mod.ts";
import { exportReceipts } from "../receipts/mod.ts";

const NDJSON = "application/x-ndjson";
const PAGE = 200;
const PAGE_BYTES = 4 * 1024 * 1024;

const Range = z.object({
  from: z.number().int().min(0).default(0),
  to: z.number().int().min(0).optional(),
});

/**
 * Binds `/api/export` for clients that accept `application/x-ndjson`: streams all receipts of a range byte for byte, one
 * per line, in constant memory. After a lost connection a client continues after its last whole line.
 */
export function bindExportStream<S>(router: Router<S>, store: Store): void {
  router.get("export_stream", "/api/export", async (ctx, next) => {
    ctx.vary("accept");
    if (!ctx.get("accept").includes(NDJSON)) return await next();
    const { from, to } = parseRange(ctx.query as Record<string, string>);
    const size = await getPublicSize(store);
    const end = Math.min(to ?? size, size);
    ctx.type = NDJSON;
    ctx.set({ "x-ledger-size": String(size), "cache-control": "no-cache" });
    ctx.body = Readable.from(readLines(store, from, end), { objectMode: false });
  });
}

function parseRange(query: Readonly<Record<string, string>>): z.output<typeof Range> {
  try {
    return parseInput(Range, parseStrings(Range, query)) as z.output<typeof Range>;
  } catch (error) {
    const places = { names: Object.keys(Range.shape), placeOf: () => "query" as const };
    throw error instanceof InvalidInput ? withLocations(error, places) : error;
  }
}

async function* readLines(store: Store, from: number, end: number): AsyncGenerator<string> {
  for (let at = from; at < end;) {
    const range = { from: at, to: Math.min(end, at + PAGE) };
    const receipts = await exportReceipts(store, range, PAGE_BYTES);
    if (receipts.length === 0) throw new Error(`There is no receipt ${at}`);
    for (const { text } of receipts) yield `${text}\n`;
    at = receipts.at(-1)!.position + 1;
  }
}
