/** Runbooks and steps for tests of them. */
import { randomBytes } from "node:crypto";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ROOT } from "../../config.ts";
import {
  loadRunbooks,
  ResolvedStep,
  type StepContext,
  type StepOutcome,
} from "../../runbooks/mod.ts";

/** Those that ship. */
export const shipped = loadRunbooks(join(ROOT, "runbooks"));

/** An id as acts have it. */
export const newId = () => randomBytes(12).toString("hex");

/** A step of one kind, with what every step must say. */
export function step(act: object): ResolvedStep {
  const kind = Object.keys(act)[0];
  return ResolvedStep.parse({
    ...{ step: "a-step", kind, does: "Does what the test wants.", bounds: { within: "10s" } },
    ...{ undo: { none: "The test throws it away." }, never: ["Leave the folder of the test."] },
    ...act,
  });
}

/** Surroundings of a step; what it tells people is kept. */
export function surroundings(dataDir: string, more: Partial<StepContext> = {}) {
  const told: string[] = [];
  const parts: StepContext = {
    dataDir,
    service: { name: "svc", check: null, restart: null },
    commands: shipped.commands,
    effectOf: () => "",
    runWorkflow: () => Promise.resolve<StepOutcome>({ state: "done", ok: true, code: "completed" }),
    notify: (message) => Promise.resolve(void told.push(message)),
    ...more,
  };
  return { ...parts, told };
}

/** Writes a file of so many bytes, so many days old. */
export async function oldFile(path: string, days: number, bytes = 4_096): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, Buffer.alloc(bytes, path.at(-1)));
  const then = Date.now() / 1_000 - days * 86_400;
  await utimes(path, then, then);
  return path;
}
