/**
 * Programs that tests start. Those of the product are built before the run. Those of the tests are bundled into one file
 * each when they are first needed, as tsx would take seconds to load hundreds of sources.
 *
 * ```ts
 * const child = fork(await program("processes/engine.ts"));
 * ```
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { programPath, ROOT } from "../config.ts";
import { workerNumber } from "./_run.ts";

/** Inside the project, where Node finds the packages. */
const FOLDER = join(ROOT, "node_modules", ".cache", "sealoop", "test-programs");

const bundles = new Map<string, Promise<string>>();

/**
 * Returns the path of a program that Node can run.
 *
 * @param source path of its source in the project
 */
export function program(source: string): Promise<string> {
  const built = programPath(source);
  if (existsSync(built)) return Promise.resolve(built);
  let bundled = bundles.get(source);
  if (!bundled) bundles.set(source, bundled = bundle(source));
  return bundled;
}

async function bundle(source: string): Promise<string> {
  const outfile = join(FOLDER, String(workerNumber), source.replace(/\.ts$/, ".js"));
  await build({
    absWorkingDir: ROOT,
    entryPoints: [source],
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  return outfile;
}
