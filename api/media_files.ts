import { createReadStream } from "node:fs";
import type Router from "@koa/router";
import type { Platform } from "../calls/mod.ts";
import { createTimeoutSignal, Problem } from "../contract/mod.ts";
import { openMediaFiles } from "../integrations/media/mod.ts";
import type { RequestState } from "../runtime/web/mod.ts";
import { findPublishedFile, getMediaFile } from "../store/media/mod.ts";

/** Nothing in a file runs, whatever it holds. */
const POLICY =
  "default-src 'none'; media-src 'self'; img-src 'self'; style-src 'unsafe-inline'; sandbox";
const NAME = /^[A-Za-z0-9._-]{1,120}$/;
/** Longest time that a file is sent. */
const SEND_TIMEOUT_MS = 600_000;

/**
 * Serves kept films, sound, captions and pictures by their hash: published ones to anybody, all others with a key of their
 * tenant. A part of a file can be asked for, as players do.
 */
export function bindMediaFiles(
  router: Router<RequestState>,
  { config, store, keyring }: Pick<Platform, "config" | "store" | "keyring">,
): void {
  const files = openMediaFiles(config);
  router.get("media", "/media/:sha256/:name", async (ctx) => {
    const { sha256, name } = ctx.params as { sha256: string; name: string };
    const tenant = await tenantOfKey(ctx.get("x-api-key"), ctx.state.address);
    const record = NAME.test(name)
      ? await findPublishedFile(store.asPlatform(), sha256) ??
        (tenant === undefined ? undefined : await getMediaFile(store.asTenant(tenant), sha256))
      : undefined;
    const path = record && await files.find(sha256);
    if (!path || !record) {
      throw new Problem("NotFound", "There is no such file, or this key may not read it");
    }
    ctx.set({
      "accept-ranges": "bytes",
      "cache-control": `${record.isPublished ? "public" : "private"}, max-age=31536000, immutable`,
      "content-security-policy": POLICY,
      "etag": `"${sha256}"`,
      "x-content-type-options": "nosniff",
    });
    if (ctx.get("if-none-match").includes(sha256)) {
      ctx.status = 304;
      return;
    }
    const range = readRange(ctx.get("range"), record.bytes);
    if (range === "outside") {
      ctx.set("content-range", `bytes */${record.bytes}`);
      ctx.status = 416;
      return;
    }
    ctx.type = record.mediaType;
    const { start, end } = range ?? { start: 0, end: record.bytes - 1 };
    ctx.length = end - start + 1;
    if (range) {
      ctx.status = 206;
      ctx.set("content-range", `bytes ${start}-${end}/${record.bytes}`);
    }
    const signal = createTimeoutSignal(SEND_TIMEOUT_MS);
    ctx.body = createReadStream(path, { start, end, signal });
  });

  async function tenantOfKey(credential: string, address: string): Promise<string | undefined> {
    if (credential === "") return undefined;
    const key = await keyring.find(credential, address);
    if (key) return key.tenant;
    throw new Problem("Unauthenticated", "Invalid API key: it is unknown, revoked or expired");
  }
}

/** Reads the range of a request; undefined: there is none that is understood, so the whole file is sent. */
function readRange(header: string, size: number) {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? [];
  if (first === undefined || first === "" && last === "") return undefined;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(size - 1, Number(last));
  return start < size && start <= end ? { start, end } : "outside" as const;
}
