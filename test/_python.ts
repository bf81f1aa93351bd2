/** Finds a Python that has a module: the machine's own, or one with the packages that the tests have pinned. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { installPython } from "./_download.ts";

const run = promisify(execFile);
const cache = new Map<string, Promise<Python>>();

/** The program to run, or why there is none. */
export type Python = { readonly program: string } | { readonly missing: string };

/**
 * Returns a Python that can import a module.
 *
 * @param pins name of the file in `pins/`, without its ending
 */
export function findPython(module: string, pins: string): Promise<Python> {
  const python = cache.get(module) ?? findOrInstall(module, pins);
  cache.set(module, python);
  return python;
}

async function findOrInstall(module: string, pins: string): Promise<Python> {
  const importing = ["-c", `import ${module}`];
  if (await run("python3", importing).then(() => true, () => false)) return { program: "python3" };
  const installed = await installPython(pins);
  if ("missing" in installed) return installed;
  const program = join(installed.folder, "bin", "python");
  await run(program, importing);
  return { program };
}
