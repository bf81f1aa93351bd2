import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commandLine, identify, stopProcess } from "../../embedded/mod.ts";
import {
  findingOf,
  managedProcess,
  restart,
  type Service,
  stopManaged,
} from "../../integrations/mod.ts";
import { exportReceipts, ledgerKeys, verifyChain } from "../../ledger/mod.ts";
import {
  type EffectRecord,
  getTicket,
  listEffects,
  putService,
  ticketTimeline,
} from "../../store/mod.ts";
import { ensureSequencer } from "../../temporal/mod.ts";
import { ITSM_LOOP, type itsmLoop, STEPS, TASK_QUEUE } from "../../workflows/mod.ts";
import { freePort, testFolder } from "../_servers.ts";
import { openParts, quietRuntime, testBundle } from "./_loop.ts";

const ACTIVITIES = ["detect", "openTicket", "diagnose", "remediate", "verify", "closeAndSeal"];
const AT_ONCE = 4;

/** All that is seen of a run whose worker was killed. */
interface Aftermath {
  readonly result: Awaited<ReturnType<typeof itsmLoop>>;
  /** How often the service was started, the first time included. */
  readonly starts: number;
  readonly ticket: Awaited<ReturnType<typeof getTicket>>;
  readonly moves: readonly string[];
  readonly receipts: readonly Record<string, unknown>[];
  readonly breaks: readonly unknown[];
  readonly effect: EffectRecord | undefined;
  readonly killed: string;
}

describe("a worker killed with -9", function () {
  this.timeout(120_000);
  const slots = Array.from({ length: AT_ONCE }, () => Promise.resolve());
  const points = ACTIVITIES.flatMap((name) => [`${name}:before`, `${name}:after`]);
  const aftermaths = new Map<string, Promise<Aftermath>>();

  before(async () => {
    quietRuntime();
    const bundle = join(await testFolder(), "bundle.js");
    await writeFile(bundle, (await testBundle()).code);
    const cases: [string, () => Promise<Aftermath>][] = [
      ...points.map((point): [string, () => Promise<Aftermath>] => [
        point,
        () => survive(bundle, { killAt: point }),
      ]),
      ["during the repair", () => survive(bundle, { during: "command" })],
      ["together with the repair", () => survive(bundle, { during: "command", andIt: true })],
    ];
    cases.forEach(([name, work], i) => {
      const done = slots[i % AT_ONCE]!.then(work);
      slots[i % AT_ONCE] = done.then(() => {}, () => {});
      done.catch(() => {});
      aftermaths.set(name, done);
    });
  });

  for (const point of points) {
    const [name, moment] = point.split(":");
    it(`${moment === "before" ? "at the start of" : "at the end of"} ${name}: the loop ends sealed, the service was restarted once`, async () => {
      const { result, starts, ticket, killed, ...rest } = (await aftermaths.get(point))!;
      assert.equal(killed, point);
      assert.equal(result.outcome, "sealed");
      assert.deepEqual(result.steps.map(({ step }) => step), STEPS);
      assert.equal(starts, 2);
      assert.equal(ticket?.status, "resolved");
      assert.equal(ticket?.receipt_id, result.receipt_id);
      assert.equal(rest.effect?.state, "done");
      assert.deepEqual(rest.moves, [
        "detected",
        "opened",
        "diagnosed",
        "intended",
        "remediated",
        "verified",
        "resolved",
      ]);
      assert.deepEqual(rest.receipts.map(({ category }) => category), [
        "ticket_opened",
        "repair_intended",
        "self_heal",
      ]);
      assert.deepEqual(rest.breaks, []);
    });
  }

  it("while the repair runs: the repair goes on, and its end is what the receipt says", async () => {
    const { result, starts, effect, receipts, breaks } =
      (await aftermaths.get("during the repair"))!;
    assert.equal(result.outcome, "sealed");
    assert.equal(starts, 2);
    assert.equal(effect?.state, "done");
    assert.equal(receipts.at(-1)?.outcome, "sealed");
    assert.deepEqual(breaks, []);
  });
  it("together with the repair: nobody repeats it, the receipt says unknown, people are asked", async () => {
    const { result, ticket, effect, receipts, breaks } =
      (await aftermaths.get("together with the repair"))!;
    assert.equal(result.outcome, "escalated");
    assert.equal(ticket?.escalated, true);
    assert.equal(ticket?.status, "open");
    assert.equal(effect?.state, "unknown");
    assert.equal(receipts.at(-1)?.outcome, "unknown");
    assert.equal(receipts.filter(({ category }) => category === "repair_intended").length, 1);
    assert.deepEqual(breaks, []);
  });
});

interface Killing {
  /** Point at which the worker kills itself. */
  readonly killAt?: string;
  /** The test kills it while a slow command is repairing. */
  readonly during?: "command";
  /** … and the command with it. */
  readonly andIt?: boolean;
}

/** Breaks a service, runs the loop with a worker that is killed and then one that is not, and looks at all of it. */
async function survive(bundle: string, { killAt, during, andIt }: Killing): Promise<Aftermath> {
  const parts = await openParts();
  const { client, store, config, database, place } = parts;
  const { dataDir } = config;
  const env = {
    ...process.env,
    SEALOOP_DATA: dataDir,
    SEALOOP_DATABASE_APP_URL: database.urls.app,
    SEALOOP_DATABASE_SEQUENCER_URL: database.urls.sequencer,
    ADDRESS: place.address,
    NAMESPACE: place.namespace,
    BUNDLE: bundle,
  };
  const startWorker = async (env: NodeJS.ProcessEnv): Promise<ChildProcess> => {
    const child = fork(new URL("_worker.ts", import.meta.url), {
      env,
      execArgv: ["--import", "tsx"],
    });
    await Promise.race([
      once(child, "message"),
      once(child, "exit").then(([code]) => {
        throw new Error(`The worker ended with ${code}`);
      }),
    ]);
    return child;
  };
  let worker = await startWorker({ ...env, KILL_AT: killAt ?? "" });
  try {
    const service = await brokenService(dataDir, during === "command");
    await putService(store.knex, service);
    await ensureSequencer(client);
    const finding = findingOf(service, "refused");
    const handle = await client.workflow.start<typeof itsmLoop>(ITSM_LOOP, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
    const gone = once(worker, "exit");
    if (during) await killDuringRepair(dataDir, worker, andIt === true);
    await gone;
    worker = await startWorker(env);
    const result = await handle.result();
    const receipts = await exportReceipts(store, { from: 0, to: 1000 });
    const { breaks } = await verifyChain(receipts.map(({ text }) => text), await ledgerKeys(store));
    const { remediations } = await listEffects(store.knex, 10);
    assert.equal(remediations.length, 1);
    return {
      result,
      starts: (await readFile(join(dataDir, "starts.log"), "utf8")).trim().split("\n").length,
      ticket: await getTicket(store.knex, result.ticket_id!),
      moves: (await ticketTimeline(store.knex, result.ticket_id!)).map(({ kind }) => kind),
      receipts: receipts.map(({ text }) => JSON.parse(text)),
      breaks,
      effect: remediations[0],
      killed: during ? during : await readFile(join(dataDir, "killed"), "utf8"),
    };
  } finally {
    worker.kill("SIGKILL");
    await stopManaged(dataDir, "victim");
    await stopStarted(dataDir);
    await parts.close();
  }
}

/** Kills the worker as soon as the command of the repair runs, and perhaps the command too. */
async function killDuringRepair(dataDir: string, worker: ChildProcess, andIt: boolean) {
  const [first] = await readdir(join(dataDir, "effects"));
  let leader = 0;
  while (!leader) {
    await sleep(5);
    const mine = (await readdir(join(dataDir, "effects"))).find((id) => id !== first);
    if (mine) {
      leader = Number(await readFile(join(dataDir, "effects", mine, "started")).catch(() => 0));
    }
  }
  worker.kill("SIGKILL");
  if (andIt) process.kill(-leader, "SIGKILL");
}

/** Ends what a command has left running. */
async function stopStarted(dataDir: string): Promise<void> {
  const pid = Number(
    (await readFile(join(dataDir, "starts.log"), "utf8")).trim().split("\n").at(-1)!.split(" ")[0],
  );
  const id = identify(pid);
  if (id && commandLine(pid).includes(dataDir)) await stopProcess(id, "SIGKILL", 0);
}

/** A small service that was started once and has crashed since. */
async function brokenService(dataDir: string, byCommand: boolean): Promise<Service> {
  const port = await freePort();
  const script = new URL("../../integrations/test_service.js", import.meta.url).pathname;
  const process_ = { command: [process.execPath, script, String(port), dataDir] };
  const service: Service = {
    ...{
      name: "victim",
      type: "web",
      host: "localhost",
      owner: null,
      origin: "test",
      watched: false,
    },
    dependsOn: [],
    check: { http: `http://127.0.0.1:${port}/health` },
    restart: byCommand
      ? { command: ["sh", "-c", `sleep 1; nohup "$@" & sleep 1`, "sh", ...process_.command] }
      : { process: process_ },
  };
  const effectId = randomBytes(12).toString("hex");
  await restart({ dataDir, effectId, service: "victim", restart: { process: process_ } });
  while (!existsSync(join(dataDir, "starts.log"))) await sleep(5);
  process.kill(managedProcess(dataDir, "victim")!.pid, "SIGKILL");
  return service;
}
