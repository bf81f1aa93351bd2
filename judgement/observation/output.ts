import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Observation, say } from "../../contract/domain/mod.ts";
import { pathBelow } from "../../integrations/files/mod.ts";
import {
  findManagedProcess,
  lastManagedProcess,
  readMarks,
  readTail,
} from "../../integrations/host/mod.ts";
import { listOpenFiles } from "./_folders.ts";
import type { Observer, ObserverContext, Subject } from "./observer.ts";
import { dropOldLines } from "./_recent.ts";
import { findProcesses, mayHaveProcess } from "./_service_process.ts";

/** A stack trace of a program that was compiled may be long, and stands after what it is about. */
const MAX_BYTES = 14_000;

/** Reads what the process of a service has printed, and how it has ended. */
export const output: Observer = {
  name: "output",
  about:
    "Reads the last output of the process that sealoop has started for the service, and how it ended; of another process, the file that takes its output",
  isNear: true,
  applies: mayHaveProcess,
  async observe(subject, context): Promise<Observation[]> {
    const { service } = subject;
    if (!service) return [];
    const { dataDir } = context.config;
    const started = lastManagedProcess(dataDir, service.name);
    if (!started) return await readOutput(subject, context);
    const folder = pathBelow(join(dataDir, "effects"), started.effect_id);
    const path = join(folder, "log");
    const running = findManagedProcess(dataDir, service.name) !== undefined;
    const { ended } = readMarks(folder);
    const ended_by = running ? undefined : ended;
    // Read last, so that of a process that has ended, it is all that it has printed.
    const [text, { birthtimeMs, mtimeMs }] = await Promise.all([
      readTail(path, MAX_BYTES),
      stat(path),
    ]);
    const lived_s = Math.round(((running ? Date.now() : mtimeMs) - birthtimeMs) / 1_000);
    return [{
      code: running ? "runs" : "ended",
      says: running
        ? say`Its process ${started.pid} runs since ${lived_s} s.`
        : say`Its process ${started.pid} has ended${
          ended_by === undefined ? "" : say` (${ended_by.replaceAll("_", " ")})`
        }; it last printed ${lived_s} s after its start.`,
      text: dropOldLines(text, subject.since),
      figures: { running, lived_s, ...(ended_by === undefined ? {} : { ended_by }) },
    }];
  },
};

/** Reads the files that take the output of a process that somebody else has started. */
async function readOutput(subject: Subject, context: ObserverContext): Promise<Observation[]> {
  const { output } = listOpenFiles(await findProcesses(subject, context));
  return await Promise.all(
    output.slice(0, 2).map(async (path) => ({
      code: "runs",
      says: say`Its output goes to ${path}.`,
      text: dropOldLines(await readTail(path, MAX_BYTES), subject.since),
      figures: { running: true },
    })),
  );
}
