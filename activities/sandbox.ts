import { createHash } from "node:crypto";
import { createServiceFinding, detectInLog, openDetectionContext } from "../detection/mod.ts";
import { findFreePort, probe, restart, type Service } from "../integrations/host/mod.ts";
import type { AttackCounts, AttackRequest, AttackScenario, Finding } from "../domain/mod.ts";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTimeoutSignal, Problem } from "../contract/mod.ts";
import { ROOT } from "../config.ts";
import { getService, putService } from "../store/mod.ts";
import type { ActivityParts } from "./_parts.ts";
import { mayDrill } from "./_stops.ts";
import { testSubjects } from "./_test_subjects.ts";

const OPEN_WITHIN_MS = 10_000;
const SEEN_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 250;
/** Attacks that show in the log of the sandbox; the others in what it answers. */
const IN_LOG: ReadonlySet<AttackScenario> = new Set(["ssh_brute_force", "port_scan"]);
const PROGRAMS = join(ROOT, "integrations", "sandbox");

/** What a practice attack needs of the world: a sandbox that is attacked in place of anything else. */
export function sandboxes({ store, config, temporal }: ActivityParts) {
  const nameOf = (id: string) => `attack-${id}`;
  const { folderOf, remove } = testSubjects({ store, config });

  /** Opens the sandbox and registers it as a service, unless an earlier attempt did. */
  async function openSandbox(request: AttackRequest): Promise<{ service: string }> {
    const { id, scenario, requested_by } = request;
    await mayDrill(store, "attack", requested_by);
    const name = nameOf(id);
    const folder = folderOf(name);
    const service = await getService(store.asPlatform(), name) as Service | undefined ??
      await register(request);
    await restart({
      dataDir: config.dataDir,
      effectId: createHash("sha256").update(`sandbox\n${id}`).digest("hex").slice(0, 24),
      service: name,
      restart: {
        process: {
          command: [
            process.execPath,
            join(PROGRAMS, "sandbox.js"),
            portOf(service),
            folder,
            scenario,
          ],
          cwd: folder,
        },
      },
    });
    await until(OPEN_WITHIN_MS, async () => (await probe(service.check!)).healthy);
    if (IN_LOG.has(scenario)) await detectInLog(world(), logOf(id)); // learns what is there before
    return { service: name };
  }

  async function register({ id, requested_by }: AttackRequest): Promise<Service> {
    mkdirSync(folderOf(nameOf(id)), { recursive: true });
    const port = String(await findFreePort());
    const service: Service = {
      name: nameOf(id),
      type: "sandbox",
      host: "127.0.0.1",
      owner: requested_by,
      origin: "test",
      check: { http: `http://127.0.0.1:${port}/health` },
      restart: { command: [process.execPath, join(PROGRAMS, "contain.js"), port] },
      watched: false, // its own loop is to find it, not the next sweep
      dependsOn: [],
    };
    await putService(store.asPlatform(), service);
    return service;
  }

  /** Starts the attack, and looks until a detector sees it. An attack that has begun is not begun again. */
  async function attackSandbox(
    { id, scenario, requested_by, service: name }: AttackRequest & { service: string },
  ): Promise<Finding> {
    await mayDrill(store, "attack", requested_by);
    const service = await getService(store.asPlatform(), name) as Service | undefined;
    if (!service) throw new Problem("NotFound", `There is no sandbox ${name}`);
    await ask(service, "/attack", "POST");
    const found = await until(SEEN_WITHIN_MS, async () => {
      if (IN_LOG.has(scenario)) return (await detectInLog(world(), logOf(id)))[0];
      const { healthy, code } = await probe(service.check!);
      return healthy ? undefined : createServiceFinding(service, code);
    });
    return { ...found, requested_by };
  }

  /** What the attack has done by now. */
  async function countAttack({ service: name }: { service: string }): Promise<AttackCounts> {
    const service = await getService(store.asPlatform(), name) as Service | undefined;
    if (!service) throw new Problem("NotFound", `There is no sandbox ${name}`);
    return await ask(service, "/counts", "GET") as AttackCounts;
  }

  /** Ends everything in the sandbox, and leaves nothing of it behind. */
  async function removeSandbox({ id }: Pick<AttackRequest, "id">): Promise<void> {
    await remove(nameOf(id));
  }

  const world = () => openDetectionContext({ config, store, temporal });
  const logOf = (id: string) => ({
    path: join(folderOf(nameOf(id)), "auth.log"),
    service: nameOf(id),
    ...{ error_rate: false, attacks: true, new_templates: "none" as const, optional: false },
  });

  return { openSandbox, attackSandbox, countAttack, removeSandbox };
}

const portOf = ({ check }: Service) => new URL((check as { http: string }).http).port;

async function ask(service: Service, path: string, method: "GET" | "POST"): Promise<unknown> {
  const url = new URL(path, (service.check as { http: string }).http);
  const response = await fetch(url, { method, signal: createTimeoutSignal(5_000) });
  return await response.json();
}

/** @throws {Problem} `Unavailable`: it did not come about within the time */
async function until<T>(withinMs: number, look: () => Promise<T>): Promise<NonNullable<T>> {
  const deadline = Date.now() + withinMs;
  while (Date.now() < deadline) {
    const seen = await look();
    if (seen) return seen;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Problem("Unavailable", `The sandbox was not as expected within ${withinMs / 1_000} s`);
}
