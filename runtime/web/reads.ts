import { createHash } from "node:crypto";
import type { Context, Middleware } from "koa";
import compress from "koa-compress";

/** `Cache-Control` of resources that never change. */
export const FOREVER = "public, max-age=31536000, immutable";

const MIN_COMPRESSED_BYTES = 1024;

/**
 * Creates the middleware that adds an ETag to answers, answers 304 to clients that have them already, and compresses
 * larger answers. For servers that only read.
 */
export function cacheReads(): Middleware[] {
  return [
    compress({ threshold: MIN_COMPRESSED_BYTES, encodingPreference: ["br", "gzip"] }),
    answerUnchanged,
  ];
}

async function answerUnchanged(ctx: Context, next: () => Promise<unknown>): Promise<void> {
  await next();
  const { body } = ctx;
  if (ctx.status !== 200 || !(typeof body === "string" || Buffer.isBuffer(body))) return;
  ctx.vary("accept");
  if (!ctx.response.get("cache-control")) ctx.set("cache-control", "public, no-cache");
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
  ctx.set("etag", `W/${etag}`);
  if (ctx.get("if-none-match").includes(etag)) {
    ctx.status = 304;
    ctx.body = null;
  }
}
