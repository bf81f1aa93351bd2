/** A small real service that was started once and has crashed. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../../config.ts";
import { commandLine, identifyProcess, stopProcess } from "../../runtime/embedded/mod.ts";
import {
  actOnce,
  findManagedProcess,
  type HealthCheck,
  type HostAct,
  probe,
  type Service,
  stopManagedProcess,
} from "../../integrations/host/mod.ts";
import type { Store } from "../../store/mod.ts";
import { putService, removeService } from "../../store/cmdb/mod.ts";
import { freePort } from "../_run.ts";

/** The platform that the service belongs to. */
export interface ServicePlace {
  readonly store: Store;
  readonly dataDir: string;
}

/** A broken service. */
export interface BrokenService {
  readonly service: Service;
  /** Its folder. */
  readonly folder: string;
  /** Returns how often it was started, the first time included. */
  starts(): Promise<number>;
  /** Lets a repair by {@linkcode heldRestart} go on. */
  release(): Promise<void>;
  /** Stops its processes, and removes it from the services. */
  remove(): Promise<void>;
}

const HEALTHY_WITHIN_MS = 120_000;

/**
 * Starts a service, waits until it is healthy, and kills it.
 *
 * @param runbook returns its restart entry; default: the platform runs its process
 * @param watched whether sweeps probe it
 * @param through returns the URL of a proxy for its health check
 */
export async function startBrokenService(
  { store, dataDir }: ServicePlace,
  { name, runbook, watched = false, through = (health) => health }: {
    name: string;
    runbook?: (command: readonly string[], folder: string) => HostAct | null;
    watched?: boolean;
    through?: (health: string) => string;
  },
): Promise<BrokenService> {
  const folder = join(dataDir, name);
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const script = join(ROOT, "integrations", "sandbox", "test_service.js");
  const command = [process.execPath, script, String(port), folder];
  const check = { http: through(`http://127.0.0.1:${port}/health`) };
  const first = { process: { command } };
  const service: Service = {
    name,
    type: "web",
    host: "127.0.0.1",
    owner: null,
    origin: "file",
    dependsOn: [],
    check,
    restart: runbook ? runbook(command, folder) : first,
    watched,
  };
  const effectId = randomBytes(12).toString("hex");
  await actOnce({ dataDir, effectId, service: name, act: first });
  await untilHealthy(check);
  await stopProcess(findManagedProcess(dataDir, name)!, "SIGKILL", 0);
  await putService(store.db, service);
  const starts = () => readStarts(folder);
  return {
    service,
    folder,
    starts: async () => (await starts()).length,
    release: () => writeFile(join(folder, "go"), ""),
    async remove() {
      await removeService(store.db, name);
      await stopManagedProcess(dataDir, name);
      for (const pid of await starts()) {
        const id = commandLine(pid).includes(folder) ? identifyProcess(pid) : undefined;
        if (id) await stopProcess(id, "SIGKILL", 0);
      }
    },
  };
}

/** Returns a restart whose command waits until it is released, and then starts the service. */
export function heldRestart(command: readonly string[], folder: string): HostAct {
  const script = `while [ ! -e "$0/go" ]; do sleep 0.05; done; nohup "$@" & sleep 0.1`;
  return { command: ["sh", "-c", script, folder, ...command] };
}

/** Returns the process ids of all starts. */
async function readStarts(folder: string): Promise<number[]> {
  const lines = (await readFile(join(folder, "starts.log"), "utf8")).trim().split("\n");
  return lines.map((line) => Number(line.split(" ")[0]));
}

async function untilHealthy(check: HealthCheck): Promise<void> {
  const deadline = Date.now() + HEALTHY_WITHIN_MS;
  while (!(await probe(check)).healthy) {
    if (Date.now() > deadline) throw new Error("The service did not become healthy");
    await sleep(25);
  }
}
