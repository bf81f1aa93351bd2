import type { Platform } from "../calls/mod.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServiceFinding } from "../detection/mod.ts";
import {
  findFreePort,
  findManagedProcess,
  probe,
  type ProbeResult,
  restart,
  type Service,
} from "../integrations/host/mod.ts";
import type { Finding, Scenario, TestRequest } from "../domain/mod.ts";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createHash } from "node:crypto";
import { WorkflowNotFoundError } from "@temporalio/client";
import { Problem } from "../contract/mod.ts";
import { ROOT } from "../config.ts";
import { getService, listTestServiceNames, putService } from "../store/mod.ts";
import type { ActivityParts } from "./_parts.ts";
import { mayDrill } from "./_stops.ts";
import { testSubjects } from "./_test_subjects.ts";

const STARTED_WITHIN_MS = 10_000;
const BROKEN_WITHIN_MS = 5_000;
const PROBE_EVERY_MS = 25;
/** Names of services that a workflow of the same name has made, and removes. */
const OURS = /^(test|attack)-/;
const OVER_QUOTA = Buffer.alloc(80 * 1024, "x");

/** What a test incident needs of the world: a service to break. */
export function testServices({ store, config, temporal }: ActivityParts) {
  const nameOf = (id: string) => `test-${id}`;
  const { folderOf, remove } = testSubjects({ store, config });

  /** Starts the service and registers it, unless an earlier attempt did. */
  async function prepareTestService(
    { id, requested_by }: TestRequest,
  ): Promise<{ service: string }> {
    await mayDrill(store, "test", requested_by);
    const name = nameOf(id);
    const known = await getService(store.asPlatform(), name) as Service | undefined;
    const service = known ?? await register(id, requested_by);
    const { http } = service.check as { http: string };
    await restart({
      dataDir: config.dataDir,
      effectId: createHash("sha256").update(`prepare\n${id}\n${http}`).digest("hex").slice(0, 24),
      service: name,
      restart: service.restart!,
    });
    if (!(await settle(service, true, STARTED_WITHIN_MS)).healthy) {
      await remove(name); // its port may have been taken since it was found free: next time another
      throw new Problem("Unavailable", `The test service ${name} did not become healthy`);
    }
    return { service: name };
  }

  async function register(id: string, owner: string): Promise<Service> {
    const folder = folderOf(nameOf(id));
    mkdirSync(folder, { recursive: true });
    const port = await findFreePort();
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
            join(ROOT, "integrations", "sandbox", "test_service.js"),
            String(port),
            folder,
          ],
          cwd: folder,
        },
      },
      watched: false, // the test's own loop is to find it, not the next sweep
      dependsOn: [],
    };
    await putService(store.asPlatform(), service);
    return service;
  }

  /**
   * Breaks the service for real, and gives what a probe then finds. Breaking what is broken changes nothing.
   *
   * @throws {Problem} `NotFound`, not retryable: the service has gone, as it does with a platform that is killed
   */
  async function breakTestService(
    { scenario, service: name, requested_by }: TestRequest & { service: string },
  ): Promise<Finding> {
    await mayDrill(store, "test", requested_by);
    const service = await getService(store.asPlatform(), name) as Service | undefined;
    if (!service) throw new Problem("NotFound", `There is no test service ${name}`);
    if (scenario !== "crash" && !findManagedProcess(config.dataDir, name)) {
      throw new Problem("NotFound", `The test service ${name} ended before it could be broken`);
    }
    await breakings[scenario](name, folderOf(name), (service.check as { http: string }).http);
    const { healthy, code } = await settle(service, false, BROKEN_WITHIN_MS);
    if (healthy) throw new Problem("Unavailable", `The test service ${name} still answers`);
    return { ...createServiceFinding(service, code), requested_by };
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
    const id = findManagedProcess(config.dataDir, name);
    if (id) process.kill(id.pid, signal);
  }

  /** Stops the service and forgets it. */
  async function removeTestService({ id }: Pick<TestRequest, "id">): Promise<void> {
    await remove(nameOf(id));
  }

  /** Removes services of tests that were ended from outside, so that they could not clean up. */
  async function removeStrayTestServices(): Promise<number> {
    const strays: string[] = [];
    for (const name of await listTestServiceNames(store.asPlatform())) {
      if (OURS.test(name) && !await isRunning(temporal, name)) strays.push(name);
    }
    for (const name of strays) await remove(name);
    return strays.length;
  }

  return { prepareTestService, breakTestService, removeTestService, removeStrayTestServices };
}

/** A test's workflow has the name of its service. */
async function isRunning(temporal: Platform["temporal"], workflowId: string): Promise<boolean> {
  try {
    return (await (await temporal()).workflow.getHandle(workflowId).describe()).status.name ===
      "RUNNING";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Probes until it is as expected or the time is over; gives the last look. */
async function settle(
  { check }: Service,
  healthy: boolean,
  withinMs: number,
): Promise<ProbeResult> {
  const deadline = Date.now() + withinMs;
  let last = await probe(check!);
  while (last.healthy !== healthy && Date.now() < deadline) {
    await sleep(PROBE_EVERY_MS);
    last = await probe(check!);
  }
  return last;
}
