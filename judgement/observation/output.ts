import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Observation } from "../../contract/domain/mod.ts";
import { pathBelow } from "../../integrations/files/mod.ts";
import { findManagedProcess, lastManagedProcess, readTail } from "../../integrations/host/mod.ts";
import type { Observer } from "./observer.ts";

const MAX_BYTES = 6_000;

/** Reads what a process has printed that the platform itself has started. */
export const output: Observer = {
  name: "output",
  about: "Reads the last output of the process that sealoop has started for the service",
  async observe({ service, isLocal }, { config: { dataDir } }): Promise<Observation[]> {
    if (!service || !isLocal) return [];
    const started = lastManagedProcess(dataDir, service.name);
    if (!started) return [];
    const path = join(pathBelow(join(dataDir, "effects"), started.effect_id), "log");
    const [text, { birthtimeMs, mtimeMs }] = await Promise.all([
      readTail(path, MAX_BYTES),
      stat(path),
    ]);
    const running = findManagedProcess(dataDir, service.name) !== undefined;
    const lived_s = Math.round(((running ? Date.now() : mtimeMs) - birthtimeMs) / 1_000);
    return [{
      code: running ? "runs" : "ended",
      says: running
        ? `Its process ${started.pid} runs since ${lived_s} s.`
        : `Its process ${started.pid} has ended; it last printed ${lived_s} s after its start.`,
      text,
      figures: { running, lived_s },
    }];
  },
};
