import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";

/** A file that pages load. Its name contains a hash of its content, so it never changes. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
  /** For the attribute `integrity`. */
  readonly integrity: string;
}

/** The files that pages load. */
export interface Assets {
  readonly script: Asset;
  readonly worker: Asset;
  readonly style: Asset;
  readonly icon: Asset;
}

/** Output folder of the build. */
const FOLDER = join(ROOT, "dist", "ledger", "page", "assets");
const ASSETS_PATH = "/assets/";

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * Reads the files that the build has made.
 *
 * @throws {Error} there are none
 */
export function loadAssets(folder = FOLDER): Assets {
  if (!existsSync(folder)) {
    throw new Error(
      `Cannot serve the ledger's pages: ${folder} does not exist; run npm run build`,
    );
  }
  const names = readdirSync(folder);
  const load = (kind: string): Asset => {
    const name = names.find((name) => new RegExp(`^${kind}-\\w+\\.(js|css|svg)$`).test(name));
    if (!name) {
      throw new Error(
        `Cannot serve the ledger's pages: ${folder} has no ${kind}; run npm run build`,
      );
    }
    const bytes = readFileSync(join(folder, name));
    return {
      path: ASSETS_PATH + name,
      type: TYPES[name.split(".").at(-1)!]!,
      bytes,
      integrity: `sha384-${createHash("sha384").update(bytes).digest("base64")}`,
    };
  };
  return { script: load("app"), worker: load("worker"), style: load("page"), icon: load("icon") };
}
