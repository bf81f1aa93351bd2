/** Python with a package, where there is one: the machine's own, or else one in a folder of the run. */
import { execFile } from "node:child_process";
import { testFolder } from "./_run.ts";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const INSTALL_MS = 60_000;
const found = new Map<string, Promise<Python>>();

/** A program to run, or why there is none. */
export type Python = { readonly program: string } | { readonly missing: string };

/**
 * Finds or makes it.
 *
 * @param requirement as pip has it, with a version, so that a run is like the one before
 */
export function pythonWith(module: string, requirement: string): Promise<Python> {
  const known = found.get(requirement) ?? look(module, requirement);
  found.set(requirement, known);
  return known;
}

async function look(module: string, requirement: string): Promise<Python> {
  try {
    await run("python3", ["-c", `import ${module}`]);
    return { program: "python3" };
  } catch {
    // Then in a folder of its own.
  }
  try {
    const folder = await testFolder();
    await run("python3", ["-m", "venv", folder], { timeout: INSTALL_MS });
    const program = join(folder, "bin", "python");
    await run(program, ["-m", "pip", "install", "--quiet", requirement], { timeout: INSTALL_MS });
    await run(program, ["-c", `import ${module}`]);
    return { program };
  } catch (error) {
    const { message, stderr } = error as Error & { stderr?: string };
    const why = (stderr || message).trim().split("\n").at(-1);
    return { missing: `no Python with ${requirement}: ${why}` };
  }
}
