import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type Router from "@koa/router";
import { ROOT } from "../../config.ts";
import { FOREVER } from "./reads.ts";

/** A file that pages load. Its name contains a hash of its content, so it never changes. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
  /** For the attribute `integrity`. */
  readonly integrity: string;
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * Reads files that the build has made for pages.
 *
 * @param source folder of their sources, from the root
 * @param path under which they are served, with a slash at its end
 * @param names without their hash and ending
 * @throws {Error} there are none
 */
export function loadAssets<Name extends string>(
  source: string,
  path: string,
  names: readonly Name[],
): Readonly<Record<Name, Asset>> {
  const folder = join(ROOT, "dist", source, "assets");
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const load = (name: string): Asset => {
    const file = files.find((file) => new RegExp(`^${name}-\\w+\\.(js|css|svg)$`).test(file));
    if (!file) throw new Error(`Cannot serve pages: ${folder} has no ${name}; run npm run build`);
    const bytes = readFileSync(join(folder, file));
    return {
      path: path + file,
      type: TYPES[file.split(".").at(-1)!]!,
      bytes,
      integrity: `sha384-${createHash("sha384").update(bytes).digest("base64")}`,
    };
  };
  return Object.fromEntries(names.map((name) => [name, load(name)])) as Record<Name, Asset>;
}

/** Serves files that pages load. @param policy of the pages, as a worker has its own */
export function bindAssets<S>(
  router: Router<S>,
  assets: Readonly<Record<string, Asset>>,
  policy: string,
): void {
  for (const { path, type, bytes } of Object.values(assets)) {
    router.get(path, (ctx) => {
      ctx.set({ "cache-control": FOREVER, "content-security-policy": policy });
      ctx.type = type;
      ctx.body = bytes;
    });
  }
}
