import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../../config.ts";
import { createTimeoutSignal, Problem } from "../../contract/mod.ts";
import {
  createServiceFinding,
  detectInLog,
  openDetectionContext,
} from "../../judgement/detection/mod.ts";
import type {
  AttackCounts,
  AttackRequest,
  AttackScenario,
  Finding,
} from "../../contract/domain/mod.ts";
import {
  actOnce,
  findFreePort,
  findManagedProcess,
  probe,
  type Service,
} from "../../integrations/host/mod.ts";
import { getService, putService } from "../../store/cmdb/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { assertDrillAllowed } from "../governance.ts";
import { createDrillServices, healthUrl, startEffectId } from "./_drill_services.ts";

const START_TIMEOUT_MS = 10_000;
const DETECT_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 250;
const REQUEST_TIMEOUT_MS = 5_000;
/** Attacks that detectors see in the sandbox's log; the others show in its health check. */
const LOG_ATTACKS: ReadonlySet<AttackScenario> = new Set(["ssh_brute_force", "port_scan"]);
const PROGRAMS = join(ROOT, "integrations", "sandbox");

/** Creates the activities of a practice attack on a sandbox. */
export function sandboxActivities({ store, config, temporal }: ActivityParts) {
  const db = store.db;
  const { folderOf, remove } = createDrillServices({ store, config });
  const nameOf = (id: string) => `attack-${id}`;
  const createContext = () => openDetectionContext({ config, store, temporal });

  /** Starts the sandbox and registers it as a service. Safe to repeat: a sandbox that is there stays. */
  async function openSandbox(request: AttackRequest): Promise<{ readonly service: string }> {
    const { id, scenario, requested_by } = request;
    await assertDrillAllowed(store, "attack", requested_by);
    const name = nameOf(id);
    const folder = folderOf(name);
    const service = await getService(db, name) as Service | undefined ?? await register(request);
    const { port } = new URL(healthUrl(service));
    const command = [
      process.execPath,
      join(PROGRAMS, "sandbox.js"),
      port,
      folder,
      scenario,
    ];
    await actOnce({
      dataDir: config.dataDir,
      effectId: startEffectId("sandbox", id),
      service: name,
      act: { process: { command, cwd: folder, on_stop: "stop" } },
    });
    await waitFor(START_TIMEOUT_MS, async () => (await probe(service.check!)).healthy);
    if (LOG_ATTACKS.has(scenario)) {
      await detectInLog(createContext(), logOf(id)); // so that only the attack is news
    }
    return { service: name };
  }

  async function register({ id, requested_by }: AttackRequest): Promise<Service> {
    mkdirSync(folderOf(nameOf(id)), { recursive: true, mode: 0o700 });
    const port = String(await findFreePort());
    const service: Service = {
      name: nameOf(id),
      type: "sandbox",
      host: "127.0.0.1",
      atPlace: config.place,
      owner: requested_by,
      origin: "test",
      check: { http: `http://127.0.0.1:${port}/health` },
      restart: { command: [process.execPath, join(PROGRAMS, "contain.js"), port] },
      watched: false, // the drill's loop finds it, not a sweep
      dependsOn: [],
    };
    await putService(db, service);
    return service;
  }

  /**
   * Starts the attack and waits until a detector sees it. Safe to repeat: the sandbox starts an attack once.
   *
   * @throws {Problem} `Denied`: a stop is set; `NotFound`: the sandbox is gone; both not retryable
   */
  async function attackSandbox(
    { id, scenario, requested_by, service: name }: AttackRequest & { readonly service: string },
  ): Promise<Finding> {
    await assertDrillAllowed(store, "attack", requested_by);
    const service = await getSandbox(name);
    await call(service, "/attack", "POST");
    const finding = await waitFor(DETECT_TIMEOUT_MS, async () => {
      if (LOG_ATTACKS.has(scenario)) return (await detectInLog(createContext(), logOf(id)))[0];
      const { healthy, code } = await probe(service.check!);
      const isAttacked = !healthy && code.startsWith("status_"); // else it is but slow
      return isAttacked ? await createServiceFinding(store, service, code) : undefined;
    });
    return { ...finding, place: config.place, requested_by };
  }

  /** Returns what the attack has done so far; null: the sandbox has ended. Safe to repeat: it only reads. */
  async function countAttack(
    { service: name }: { readonly service: string },
  ): Promise<AttackCounts | null> {
    if (!findManagedProcess(config.dataDir, name)) return null;
    return await call(await getSandbox(name), "/counts", "GET") as AttackCounts;
  }

  /** Stops the sandbox and removes everything of it. Safe to repeat: what is gone stays gone. */
  async function removeSandbox({ id }: Pick<AttackRequest, "id">): Promise<void> {
    await remove(nameOf(id));
  }

  async function getSandbox(name: string): Promise<Service> {
    const service = await getService(db, name) as Service | undefined;
    if (!service) throw new Problem("NotFound", `There is no sandbox ${name}`);
    return service;
  }

  const logOf = (id: string) => ({
    path: join(folderOf(nameOf(id)), "auth.log"),
    service: nameOf(id),
    error_rate: false,
    attacks: true,
    new_templates: "none" as const,
    optional: false,
  });

  return { openSandbox, attackSandbox, countAttack, removeSandbox };
}

async function call(service: Service, path: string, method: "GET" | "POST"): Promise<unknown> {
  const url = new URL(path, healthUrl(service));
  const response = await fetch(url, { method, signal: createTimeoutSignal(REQUEST_TIMEOUT_MS) });
  return await response.json();
}

/** Polls until there is a result. @throws {Problem} `Unavailable`: there was none within the time */
async function waitFor<T>(timeoutMs: number, poll: () => Promise<T>): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const result = await poll();
    if (result) return result;
    await sleep(POLL_INTERVAL_MS);
  }
  throw new Problem(
    "Unavailable",
    `The sandbox did not reach the expected state within ${timeoutMs / 1_000} s`,
  );
}
