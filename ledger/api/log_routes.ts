import type Router from "@koa/router";
import type { Context } from "koa";
import { encodeLeaf } from "../crypto/mod.ts";
import { createHashReader, getPublishedCheckpoint, parseTilePath, TILE_WIDTH } from "../log/mod.ts";
import { exportReceipts } from "../receipts/mod.ts";
import { Problem } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";

/** What can never change. */
const FOR_EVER = "public, max-age=31536000, immutable";

/**
 * Gives the Merkle log at the paths of C2SP tlog-tiles: `/checkpoint`, `/tile/<L>/<N>[.p/<W>]` and
 * `/tile/entries/<N>[.p/<W>]`. A tile is given once a published checkpoint covers it, and never changes.
 */
export function bindLog<S>(router: Router<S>, store: Store): void {
  router.get("log_checkpoint", "/checkpoint", async (ctx) => {
    const checkpoint = await getPublishedCheckpoint(store);
    if (!checkpoint) throw new Problem("Unavailable", "The log has signed no checkpoint yet");
    ctx.type = "text/plain; charset=utf-8";
    ctx.set("cache-control", "no-cache");
    ctx.body = checkpoint.note;
  });
  router.get("log_tile", "/tile/:level/*path", async (ctx) => {
    const { level: kind, path } = ctx.params as { level: string; path: string };
    const place = parseTilePath(path);
    const level = kind === "entries"
      ? 0
      : /^(0|[1-9]|[1-5]\d|6[0-3])$/.test(kind)
      ? Number(kind)
      : -1;
    if (!place || level < 0) throw nothingAt(ctx);
    const [from, to] = [place.n * TILE_WIDTH, place.n * TILE_WIDTH + place.width];
    const size = (await getPublishedCheckpoint(store))?.size ?? 0;
    if (to > Math.floor(size / TILE_WIDTH ** level)) throw nothingAt(ctx);
    ctx.type = "application/octet-stream";
    ctx.set("cache-control", FOR_EVER);
    ctx.body = kind === "entries"
      ? await entries(store, from, to)
      : Buffer.concat(await createHashReader(store)(level, from, to));
  });
}

/** A bundle of entries: each its length as 2 bytes, and its bytes. */
async function entries(store: Store, from: number, to: number): Promise<Buffer> {
  const receipts = await exportReceipts(store, { from, to });
  if (receipts.length !== to - from) {
    throw new Error(`Receipts ${from} to ${to - 1} are not all there`);
  }
  return Buffer.concat(
    receipts.map(encodeLeaf).flatMap((leaf) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(leaf.length);
      return [length, leaf];
    }),
  );
}

const nothingAt = (ctx: Context) =>
  new Problem(
    "NotFound",
    `There is no tile at ${ctx.path}: expected /tile/<level or entries>/<number>[.p/<width>] within the checkpoint`,
  );
