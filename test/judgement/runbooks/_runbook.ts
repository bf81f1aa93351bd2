/** Runbooks and steps for tests. */
import { randomBytes } from "node:crypto";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import {
  loadRunbooks,
  ResolvedStep,
  SHIPPED_RUNBOOKS,
  type StepContext,
  type StepOutcome,
} from "../../../judgement/runbooks/mod.ts";

/** The shipped runbooks. */
export const shipped = loadRunbooks(SHIPPED_RUNBOOKS);

/** Creates an effect id. */
export const newId = () => randomBytes(12).toString("hex");

/** Creates a step of one kind, with the fields that every step must have. */
export function step(act: object): ResolvedStep {
  const kind = Object.keys(act)[0];
  return ResolvedStep.parse({
    step: "a-step",
    kind,
    does: "Does what the test wants.",
    bounds: { within: "60s" },
    undo: { none: "The test throws it away." },
    never: ["Leave the folder of the test."],
    ...act,
  });
}

/** Creates the createContext of a step. They keep the messages to people. */
export function createContext(dataDir: string, more: Partial<StepContext> = {}) {
  const messages: string[] = [];
  const context: StepContext = {
    dataDir,
    service: { name: "svc", host: "localhost", check: null, restart: null },
    values: {},
    allowNetworks: [],
    commands: shipped.commands,
    effectOf: () => "",
    runWorkflow: () => Promise.resolve<StepOutcome>({ state: "done", ok: true, code: "completed" }),
    join: (service) =>
      Promise.resolve<StepOutcome>({ state: "done", ok: true, code: `joined_${service}` }),
    runScript: () => Promise.resolve<StepOutcome>({ state: "done", ok: true, code: "exit_0" }),
    look: () => Promise.resolve<StepOutcome>({ state: "done", ok: true, code: "looked" }),
    notify: (message) => Promise.resolve(void messages.push(message)),
    ...more,
  };
  return { ...context, messages };
}

/** Writes a file of so many bytes that is so many days old. */
export async function writeOldFile(path: string, days: number, bytes = 4_096): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, Buffer.alloc(bytes, path.at(-1)));
  const then = Date.now() / 1_000 - days * 86_400;
  await utimes(path, then, then);
  return path;
}
