/** Finds a Python that has a package: the machine's own, or one that is installed into a folder of the run. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { testFolder } from "./_run.ts";

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 60_000;
const cache = new Map<string, Promise<Python>>();

/** The program to run, or why there is none. */
export type Python = { readonly program: string } | { readonly missing: string };

/**
 * Returns a Python that can import a module.
 *
 * @param requirement for pip, with an exact version, so that every run uses the same one
 */
export function findPython(module: string, requirement: string): Promise<Python> {
  const python = cache.get(requirement) ?? findOrInstall(module, requirement);
  cache.set(requirement, python);
  return python;
}

async function findOrInstall(module: string, requirement: string): Promise<Python> {
  try {
    await run("python3", ["-c", `import ${module}`]);
    return { program: "python3" };
  } catch {
    // The machine has none; install it.
  }
  try {
    const folder = await testFolder();
    await run("python3", ["-m", "venv", folder], { timeout: INSTALL_TIMEOUT_MS });
    const program = join(folder, "bin", "python");
    await run(program, ["-m", "pip", "install", "--quiet", requirement], {
      timeout: INSTALL_TIMEOUT_MS,
    });
    await run(program, ["-c", `import ${module}`]);
    return { program };
  } catch (error) {
    const { message, stderr } = error as Error & { stderr?: string };
    const why = (stderr || message).trim().split("\n").at(-1);
    return { missing: `no Python with ${requirement}: ${why}` };
  }
}
