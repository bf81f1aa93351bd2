import { createHash } from "node:crypto";
import compress from "koa-compress";
import type { Context, Middleware } from "koa";

/** What can never change. */
export const FOR_EVER = "public, max-age=31536000, immutable";

const COMPRESS_FROM_BYTES = 1024;

/**
 * Makes answers to reads cheap to repeat and small to send: each has an ETag, whoever has it already gets 304, and what
 * is worth it is compressed. For servers that only give; it changes no bytes of a body.
 */
export function cheapReads(): Middleware[] {
  return [
    compress({ threshold: COMPRESS_FROM_BYTES, encodingPreference: ["br", "gzip"] }),
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
