import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../../config.ts";
import { Problem } from "../../contract/mod.ts";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import {
  DRILL_SERVICE_PATTERN,
  type Finding,
  type Scenario,
  type TestRequest,
} from "../../contract/domain/mod.ts";
import {
  actOnce,
  findFreePort,
  findManagedProcess,
  probe,
  type ProbeResult,
  type Service,
} from "../../integrations/host/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { getService, listTestServiceNames, putService } from "../../store/cmdb/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { assertDrillAllowed } from "../governance.ts";
import { createDrillServices, healthUrl, startEffectId } from "./_drill_services.ts";
import { getRunStatus } from "../../calls/mod.ts";

const START_TIMEOUT_MS = 10_000;
const BREAK_TIMEOUT_MS = 5_000;
const PROBE_INTERVAL_MS = 25;
const DRILL_SERVICE = new RegExp(DRILL_SERVICE_PATTERN);
/** Larger than the quota of the test service's folder. */
const OVERSIZED_FILE = Buffer.alloc(80 * 1024, "x");

/** Creates the activities of a test incident. */
export function testServiceActivities({ store, config, temporal }: ActivityParts) {
  const db = store.db;
  const { folderOf, remove } = createDrillServices({ store, config });
  const nameOf = (id: string) => `test-${id}`;

  /** Starts the test service and registers it. Safe to repeat: a service that is there stays. */
  async function prepareTestService(
    { id, requested_by }: TestRequest,
  ): Promise<{ readonly service: string }> {
    await assertDrillAllowed(store, "test", requested_by);
    const name = nameOf(id);
    const known = await getService(db, name) as Service | undefined;
    const service = known ?? await register(id, requested_by);
    await actOnce({
      dataDir: config.dataDir,
      effectId: startEffectId("prepare", id, healthUrl(service)),
      service: name,
      act: service.restart!,
    });
    if (!(await probeUntil(service, { healthy: true }, START_TIMEOUT_MS)).healthy) {
      await remove(name); // its port may have been taken since; the next attempt finds another
      throw new Problem("Unavailable", `The test service ${name} did not become healthy`);
    }
    return { service: name };
  }

  async function register(id: string, owner: string): Promise<Service> {
    const folder = folderOf(nameOf(id));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const port = await findFreePort();
    const program = join(ROOT, "integrations", "sandbox", "test_service.js");
    const command = [process.execPath, program, String(port), folder];
    const service: Service = {
      name: nameOf(id),
      type: "test",
      host: "127.0.0.1",
      atPlace: config.place,
      owner,
      origin: "test",
      check: { http: `http://127.0.0.1:${port}/health` },
      restart: { process: { command, cwd: folder, on_stop: "stop" } },
      watched: false, // the drill's loop finds it, not a sweep
      dependsOn: [],
    };
    await putService(db, service);
    return service;
  }

  /**
   * Breaks the test service for real, and returns the finding of a probe. Safe to repeat: breaking it again changes
   * nothing.
   *
   * @throws {Problem} `NotFound`, not retryable: the service is gone, as it is after the platform was killed
   */
  async function breakTestService(
    { scenario, service: name, requested_by }: TestRequest & { readonly service: string },
  ): Promise<Finding> {
    await assertDrillAllowed(store, "test", requested_by);
    const service = await getService(db, name) as Service | undefined;
    if (!service) throw new Problem("NotFound", `There is no test service ${name}`);
    if (scenario !== "crash" && !findManagedProcess(config.dataDir, name)) {
      throw new Problem("NotFound", `The test service ${name} ended before it could be broken`);
    }
    await breakService[scenario](service);
    const { healthy, code } = await probeUntil(service, { healthy: false }, BREAK_TIMEOUT_MS);
    if (healthy) {
      throw new Problem("Unavailable", `The test service ${name} still answers its health check`);
    }
    const { place } = config;
    return { ...await createServiceFinding(store, service, code), place, requested_by };
  }

  const breakService: Readonly<Record<Scenario, (service: Service) => Promise<void> | void>> = {
    crash: ({ name }) => signalProcess(name, "SIGKILL"),
    hang: ({ name }) => signalProcess(name, "SIGSTOP"),
    wrong_answers: async (service) => {
      await fetch(new URL("/break", healthUrl(service)), { method: "POST" });
    },
    disk_full: ({ name }) => writeFileSync(join(folderOf(name), "spool", "junk"), OVERSIZED_FILE),
  };

  function signalProcess(name: string, signal: NodeJS.Signals): void {
    const id = findManagedProcess(config.dataDir, name);
    if (id) process.kill(id.pid, signal);
  }

  /** Stops the test service and removes everything of it. Safe to repeat: what is gone stays gone. */
  async function removeTestService({ id }: Pick<TestRequest, "id">): Promise<void> {
    await remove(nameOf(id));
  }

  /** Removes services of all tenants' drills at this place whose workflow was ended from outside. Safe to repeat: what is gone stays gone. */
  async function removeStrayTestServices(): Promise<number> {
    let removed = 0;
    for (const tenant of await listTenants(store.db)) {
      const owner = store.forTenant(tenant);
      for (const name of await listTestServiceNames(owner.db, config.place)) {
        if (!DRILL_SERVICE.test(name)) continue;
        const { status } = await getRunStatus(temporal, name); // the workflow has the service's name
        if (status === "RUNNING") continue;
        await createDrillServices({ store: owner, config }).remove(name);
        removed++;
      }
    }
    return removed;
  }

  return { prepareTestService, breakTestService, removeTestService, removeStrayTestServices };
}

/** Probes until the result is as expected, or the time is over; returns the last result. */
async function probeUntil(
  { check }: Service,
  expected: Pick<ProbeResult, "healthy">,
  timeoutMs: number,
): Promise<ProbeResult> {
  const deadline = Date.now() + timeoutMs;
  let last = await probe(check!);
  while (last.healthy !== expected.healthy && Date.now() < deadline) {
    await sleep(PROBE_INTERVAL_MS);
    last = await probe(check!);
  }
  return last;
}
