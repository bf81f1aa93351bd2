import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createHash } from "node:crypto";
import { Problem } from "../contract/mod.ts";
import { ROOT } from "../config.ts";
import {
  managedProcess,
  probe,
  restart,
  type RestartOrder,
  stopManaged,
  whatHappened,
} from "../integrations/mod.ts";
import { getService, putService, removeService } from "../store/mod.ts";
import type { Finding, Scenario, TestRequest } from "../workflows/mod.ts";
import type { ActivityParts, Service } from "./_parts.ts";
import { findingOf } from "./sweep.ts";

const STARTED_WITHIN_MS = 10_000;
const BROKEN_WITHIN_MS = 5_000;
const OVER_QUOTA = Buffer.alloc(80 * 1024, "x");

/** What a test incident needs of the world: a service to break. */
export function testServices({ store, config }: ActivityParts) {
  const nameOf = (id: string) => `test-${id}`;
  const folderOf = (id: string) => join(config.dataDir, "test-services", id);

  /** Starts the service and registers it, unless an earlier attempt did. */
  async function prepareTestService(
    { id, requested_by }: TestRequest,
  ): Promise<{ service: string }> {
    const name = nameOf(id);
    const known = await getService(store.knex, name) as Service | undefined;
    const service = known ?? await register(id, requested_by);
    const order: RestartOrder = {
      dataDir: config.dataDir,
      effectId: createHash("sha256").update(`prepare\n${id}`).digest("hex").slice(0, 24),
      service: name,
      restart: service.restart!,
    };
    const happened = await whatHappened(order);
    if (happened.state === "not_done") await restart(order);
    if (!await becomes(service, true, STARTED_WITHIN_MS)) {
      throw new Problem("Unavailable", `The test service ${name} did not become healthy`);
    }
    return { service: name };
  }

  async function register(id: string, owner: string): Promise<Service> {
    const folder = folderOf(id);
    mkdirSync(folder, { recursive: true });
    const port = await freePort();
    const service: Service = {
      name: nameOf(id),
      type: "test",
      host: "127.0.0.1",
      owner,
      origin: "test",
      check: { http: `http://127.0.0.1:${port}/health` },
      restart: {
        process: {
          command: [
            process.execPath,
            join(ROOT, "integrations", "test_service.js"),
            String(port),
            folder,
          ],
          cwd: folder,
        },
      },
      watched: false, // the test's own loop is to find it, not the next sweep
      dependsOn: [],
    };
    await putService(store.knex, service);
    return service;
  }

  /** Breaks the service for real, and gives what a probe then finds. Breaking what is broken changes nothing. */
  async function breakTestService(
    { id, scenario, service: name, requested_by }: TestRequest & { service: string },
  ): Promise<Finding> {
    const service = await getService(store.knex, name) as Service | undefined;
    if (!service) throw new Problem("NotFound", `There is no test service ${name}`);
    await breakings[scenario](name, folderOf(id), (service.check as { http: string }).http);
    if (!await becomes(service, false, BROKEN_WITHIN_MS)) {
      throw new Problem("Unavailable", `The test service ${name} still answers`);
    }
    const { code } = await probe(service.check!);
    return { ...findingOf(service, code), requested_by };
  }

  const breakings: Record<
    Scenario,
    (name: string, folder: string, url: string) => Promise<void> | void
  > = {
    crash: (name) => kill(name, "SIGKILL"),
    hang: (name) => kill(name, "SIGSTOP"),
    wrong_answers: async (_, __, url) => {
      await fetch(new URL("/break", url), { method: "POST" });
    },
    disk_full: (_, folder) => writeFileSync(join(folder, "spool", "junk"), OVER_QUOTA),
  };

  function kill(name: string, signal: NodeJS.Signals): void {
    const id = managedProcess(config.dataDir, name);
    if (id) process.kill(id.pid, signal);
  }

  /** Stops the service and forgets it. */
  async function removeTestService({ id }: TestRequest): Promise<void> {
    await stopManaged(config.dataDir, nameOf(id));
    await removeService(store.knex, nameOf(id));
    rmSync(folderOf(id), { recursive: true, force: true });
  }

  return { prepareTestService, breakTestService, removeTestService };
}

async function becomes({ check }: Service, healthy: boolean, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (Date.now() < deadline) {
    if ((await probe(check!)).healthy === healthy) return true;
    await sleep(25);
  }
  return false;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
