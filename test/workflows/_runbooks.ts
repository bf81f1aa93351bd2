/** Runbooks of a test, and the program that they run. */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { eventually } from "../_time.ts";

const NEVER = ["Leave the folder of the test."];
const NONE = { none: "The test throws it away." };

/** Writes runbooks into a folder, and allows the program of {@linkcode countingProgram}. */
export async function writeRunbooks(
  folder: string,
  runbooks: Readonly<Record<string, object>>,
  programs: readonly string[] = [],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [runbook, more] of Object.entries(runbooks)) {
    const document = {
      runbook,
      version: "1.0.0",
      title: `The runbook ${runbook}`,
      about: "It exists for a test, and acts on its folder.",
      ...more,
    };
    await writeFile(join(folder, `${runbook}.yaml`), stringify(document));
  }
  const commands = programs.map((program, n) => ({
    name: `program-${n}`,
    about: "A program of the test.",
    argv: [program],
  }));
  await writeFile(join(folder, "commands.yaml"), stringify({ commands }));
}

/** Returns a step with the fields that every step needs. */
export const runbookStep = (step: string, act: object): object => ({
  step,
  does: `Does the step ${step}.`,
  bounds: { within: "30s" },
  undo: NONE,
  never: NEVER,
  ...act,
});

/** Kills the process of an effect as soon as it has begun, so that its result is unknown. */
export async function killEffect(dataDir: string, effectId: string): Promise<void> {
  const mark = join(dataDir, "effects", effectId, "started");
  const leader = await eventually(async () => {
    return Number(await readFile(mark, "utf8").catch(() => "")) || undefined;
  });
  process.kill(-leader, "SIGKILL");
}

/** Writes a program that logs each run, after so many seconds or once a file exists. */
export async function countingProgram(folder: string, name: string, after: number | string = 0) {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  const log = `${path}.log`;
  const wait = typeof after === "number"
    ? `sleep ${after}`
    : `while [ ! -e '${after}' ]; do sleep 0.05; done`;
  await writeFile(path, `#!/bin/sh\n${wait}\necho ran >> '${log}'\n`);
  await chmod(path, 0o755);
  const times = async () => {
    const text = await readFile(log, "utf8").catch(() => "");
    return text.split("\n").length - 1;
  };
  return { path, times };
}
