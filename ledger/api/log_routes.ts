import type Router from "@koa/router";
import { Problem } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";
import { FOREVER } from "../../runtime/web/mod.ts";
import { encodeLeaf } from "../crypto/mod.ts";
import { createHashReader, getPublishedCheckpoint, parseTilePath, TILE_WIDTH } from "../log/mod.ts";
import { exportReceipts } from "../receipts/mod.ts";

/** Levels of the specification: 0 to 63. */
const LEVEL = /^(0|[1-9]|[1-5]\d|6[0-3])$/;

/**
 * Binds the Merkle log at the paths of C2SP tlog-tiles: `/checkpoint`, `/tile/<L>/<N>[.p/<W>]` and
 * `/tile/entries/<N>[.p/<W>]`. A tile exists once a published checkpoint covers it, and never changes.
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
    const level = kind === "entries" ? 0 : LEVEL.test(kind) ? Number(kind) : undefined;
    if (!place || level === undefined) throw noTileProblem(ctx.path);
    const [from, to] = [place.n * TILE_WIDTH, place.n * TILE_WIDTH + place.width];
    const size = (await getPublishedCheckpoint(store))?.size ?? 0;
    if (to > Math.floor(size / TILE_WIDTH ** level)) throw noTileProblem(ctx.path);
    ctx.type = "application/octet-stream";
    ctx.set("cache-control", FOREVER);
    ctx.body = kind === "entries"
      ? await bundleEntries(store, from, to)
      : Buffer.concat(await createHashReader(store)(level, from, to));
  });
}

/** Reads a bundle of entries: for each its length in 2 bytes, then its bytes. */
async function bundleEntries(store: Store, from: number, to: number): Promise<Buffer> {
  const receipts = await exportReceipts(store, { from, to });
  if (receipts.length !== to - from) {
    throw new Error(`Cannot read receipts ${from} to ${to - 1}: some are missing`);
  }
  return Buffer.concat(
    receipts.map(encodeLeaf).flatMap((leaf) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(leaf.length);
      return [length, leaf];
    }),
  );
}

function noTileProblem(path: string): Problem {
  return new Problem(
    "NotFound",
    `There is no tile at ${path}: expected /tile/<level or entries>/<number>[.p/<width>] within the checkpoint`,
  );
}
