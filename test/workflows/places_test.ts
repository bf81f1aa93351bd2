import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { findManagedProcess, probe, stopManagedProcess } from "../../integrations/host/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import {
  exportReceipts,
  listLedgerKeys,
  loadSigningKey,
  readEvidence,
  verifyChain,
} from "../../ledger/mod.ts";
import { commandLine, identifyProcess, stopProcess } from "../../runtime/embedded/mod.ts";
import { getService } from "../../store/cmdb/mod.ts";
import { openStore } from "../../store/mod.ts";
import { getTicket } from "../../store/incidents/mod.ts";
import type { itsmLoop, itsmSweep, itsmTest, securityScan } from "../../workflows/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";
import { startProcess, type TestProcess } from "../processes/_process.ts";
import { serveEngine } from "../judgement/engine/_engine.ts";
import { openLoop, type TestLoop } from "./_loop.ts";

/** A place of this test, with a worker and a service of its own. */
interface Spot {
  readonly place: string;
  readonly service: string;
  readonly folder: string;
  readonly serviceFolder: string;
  readonly worker: TestProcess;
}

/** A receipt, as far as this test reads it. */
interface Sealed {
  readonly id: string;
  readonly category: string;
  // deno-lint-ignore no-explicit-any -- whatever a receipt says
  readonly details: any;
}

const AWAY_SECONDS = "10";

describe("three places with one service each", () => {
  let loop: TestLoop;
  let engine: Awaited<ReturnType<typeof serveEngine>>;
  let spots: [Spot, Spot, Spot];

  before(async () => {
    loop = await openLoop({
      settings: {
        SEALOOP_PLACE: "office.example.net", // not the first place, so that what any may do is done elsewhere
        SEALOOP_PLACE_AWAY_SECONDS: AWAY_SECONDS,
      },
      serve: async (databaseUrl) => engine = await serveEngine(databaseUrl),
    });
    spots = [await openSpot("n1"), await openSpot("n2"), await openSpot("n3")];
    for (const { place, service } of spots) {
      await eventually(async () => (await serviceOf(service))?.place === place);
    }
  });
  after(async () => {
    for (const { worker, folder, service, serviceFolder } of spots ?? []) {
      await worker.kill();
      await stopManagedProcess(folder, service);
      await stopStarted(serviceFolder);
      await rm(serviceFolder, { recursive: true }); // ends a command that still waits
    }
    await loop?.stop();
  });

  const serviceOf = async (name: string) =>
    await getService(loop.store.asPlatform(), name) as Service | undefined;

  /** Starts the worker of a place. The third one's service is restarted by a command, which waits until it may. */
  async function openSpot(name: string): Promise<Spot> {
    const folder = await testFolder();
    const service = `shop-${name}`;
    const serviceFolder = join(folder, service);
    await mkdir(serviceFolder);
    const place = `${name}.example.net`;
    const port = await freePort();
    const program = join(ROOT, "integrations", "sandbox", "test_service.js");
    const command = [process.execPath, program, String(port), serviceFolder];
    const script =
      `while [ ! -e "$0/go" ]; do [ -d "$0" ] || exit 1; sleep 0.05; done; nohup "$@" & sleep 0.1`;
    const restart = name === "n3"
      ? { command: ["sh", "-c", script, serviceFolder, ...command] }
      : { process: { command } };
    const check = { http: `http://127.0.0.1:${port}/health` };
    const services = [{ name: service, type: "web", check, restart }];
    await writeFile(join(folder, "sealoop.services.yaml"), JSON.stringify({ services }));
    const worker = await startWorker(place, folder);
    return { place, service, folder, serviceFolder, worker };
  }

  async function startWorker(place: string, folder: string): Promise<TestProcess> {
    return await startProcess("worker", {
      database: loop.database,
      temporal: loop.place,
      folder,
      settings: {
        SEALOOP_PLACE: place,
        SEALOOP_TASK_QUEUES: "act",
        SEALOOP_SWEEP_SECONDS: "86400",
        SEALOOP_ENGINE_URL: engine.url,
        SEALOOP_ENGINE_SECRET: engine.secret,
        SEALOOP_WEBHOOK_KEY: "5a".repeat(32),
        SEALOOP_OTS_CALENDARS: "none",
        SEALOOP_BITCOIN_SOURCES: "none",
      },
    });
  }

  async function startLoop(name: string) {
    const finding = await createServiceFinding(loop.store, (await serviceOf(name))!, "refused");
    return await loop.client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
  }

  /** Lists the effects on a service, newest last. */
  const effectsOn = (service: string) =>
    loop.store.asPlatform().query<{ readonly id: string; readonly state: string }>(
      "SELECT id, state FROM effects WHERE service = $1 ORDER BY intended_at",
      [service],
    );

  const hasMarks = (folder: string, id: string) => existsSync(join(folder, "effects", id));

  it("has each service found, repaired and verified by its own place alone", async () => {
    const [, , n3] = spots;
    await writeFile(join(n3.serviceFolder, "go"), "");
    const swept = await loop.client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "sweep-places",
      args: ["key:test"],
    });
    assert.equal(swept.loops.length, 3);
    const folders = [loop.config.dataDir, ...spots.map(({ folder }) => folder)];
    for (const { service, folder } of spots) {
      const fault = await createServiceFinding(loop.store, (await serviceOf(service))!, "refused");
      const run = loop.client.workflow.getHandle<typeof itsmLoop>(`loop-${fault.fingerprint}`);
      assert.equal((await run.result()).outcome, "sealed");
      const effects = await effectsOn(service);
      assert.deepEqual(effects.map(({ state }) => state), ["done"]);
      for (const { id } of effects) {
        assert.deepEqual(folders.filter((one) => hasMarks(one, id)), [folder], service);
      }
      assert.ok((await probe((await serviceOf(service))!.check!)).healthy);
    }
    assert.ok(findManagedProcess(spots[0].folder, spots[0].service));
  });

  it("has each act signed by the place that its receipt names", async () => {
    const receipts = await sealed();
    const enrolled = receipts.filter(({ category }) => category === "place_enrolled");
    const names = new Map<string, string>();
    const operator = openStore(loop.database.urls.operator, "operator", 2);
    for (const { id, details } of enrolled) {
      const { entries } = await readEvidence(operator, id);
      assert.deepEqual(entries.map(({ name, state }) => [name, state]), [["name", "proven"]]);
      names.set(details.place, JSON.parse(entries[0]!.content!));
    }
    await operator.close();
    assert.equal(names.size, 3);
    for (const { place, service, folder } of spots) {
      const key = loadSigningKey(join(folder, "place.key")).publicKey.toString("hex");
      assert.equal(names.get(key), place);
      const effects = new Set((await effectsOn(service)).map(({ id }) => id));
      const acts = actsIn(receipts).filter(({ effect_id, place }) =>
        effects.has(effect_id) && place !== undefined
      );
      assert.deepEqual(acts.map((act) => act.place), [key, key], `intent and end of ${service}`);
    }
    assert.ok(!JSON.stringify(receipts).includes("n1.example.net"));
  });

  it("does a drill at one place from beginning to end, and leaves nothing of it", async () => {
    const [{ folder }] = spots;
    const id = randomBytes(4).toString("hex");
    const { outcome, service } = await loop.client.workflow.execute<typeof itsmTest>(
      WORKFLOW.itsmTest,
      {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `test-${id}`,
        args: [{ id, scenario: "crash", requested_by: "key:test" }],
      },
    );
    assert.equal(outcome, "sealed");
    const effects = await effectsOn(service);
    assert.deepEqual(effects.map(({ state }) => state), ["done"]);
    const folders = [loop.config.dataDir, ...spots.map((spot) => spot.folder)];
    assert.deepEqual(folders.filter((one) => hasMarks(one, effects[0]!.id)), [folder]);
    assert.equal(findManagedProcess(folder, service), undefined);
    assert.equal(await serviceOf(service), undefined);
    assert.ok(!existsSync(join(folder, "test-services", service)));
  });

  it("scans the machine of one place, which signs the receipt", async () => {
    const { receipt_id } = await loop.client.workflow.execute<typeof securityScan>(
      WORKFLOW.securityScan,
      { taskQueue: TASK_QUEUE.itsm, workflowId: "scan-of-places" },
    );
    await loop.sealer.sealed(receipt_id);
    const { details } = (await sealed()).find(({ id }) => id === receipt_id)!;
    const key = loadSigningKey(join(spots[0].folder, "place.key")).publicKey.toString("hex");
    assert.equal(details.place, key);
  });

  it("has receipts that verify, and none where another place had signed", async () => {
    const texts = (await exportReceipts(loop.store, { from: 0, to: 10_000 })).map(({ text }) =>
      text
    );
    const keys = await listLedgerKeys(loop.store);
    assert.deepEqual((await verifyChain(texts, keys)).breaks, []);
    const ids = spots.map(({ folder }) =>
      loadSigningKey(join(folder, "place.key")).publicKey.toString("hex")
    );
    const at = texts.findIndex((text) => JSON.parse(text).category === "self_heal");
    const healed = texts[at]!;
    const from = ids.find((id) => healed.includes(id))!;
    const to = ids.find((id) => id !== from)!;
    const { breaks } = await verifyChain(texts.with(at, healed.replaceAll(from, to)), keys);
    assert.match(breaks.find(({ position }) => position === at)!.reason, /has not signed/);
  });

  it("starts no worker of a place without the key that is enrolled for it", async () => {
    const [{ place }] = spots;
    const worker = await startWorker(place, await testFolder());
    try {
      const { msg } = await worker.line(/^Cannot act/);
      assert.match(msg, /place n1\.example\.net without its key: bring its key back/);
    } finally {
      await worker.kill();
    }
  });

  it("leaves an incident to people whose place has no worker, and does nothing elsewhere", async function () {
    const [, { worker, folder, service }] = spots;
    await worker.kill();
    await stopManagedProcess(folder, service);
    const before = await effectsOn(service);
    const started = Date.now();
    const { outcome, ticket_id } = await (await startLoop(service)).result();
    assert.ok(Date.now() - started < 90_000);
    assert.equal(outcome, "escalated");
    assert.equal((await getTicket(loop.store.asPlatform(), ticket_id!))!.escalated, true);
    assert.equal(await reasonOf(ticket_id!), "place_away");
    assert.deepEqual(await effectsOn(service), before);
    assert.ok(!(await probe((await serviceOf(service))!.check!)).healthy);
  });

  it("leaves a repair to people whose place is lost in the middle of it, as unknown", async () => {
    const [, , { worker, service, serviceFolder }] = spots;
    await rm(join(serviceFolder, "go"));
    await stopStarted(serviceFolder);
    const run = await startLoop(service);
    await eventually(async () => (await effectsOn(service)).at(-1)?.state === "intended");
    await worker.kill();
    const { outcome, ticket_id } = await run.result();
    assert.equal(outcome, "escalated");
    assert.equal(await reasonOf(ticket_id!), "place_away");
    const effects = await effectsOn(service);
    assert.deepEqual(effects.map(({ state }) => state), ["done", "unknown"]);
    const { id } = effects.at(-1)!;
    const acts = actsIn(await sealed()).filter(({ effect_id }) => effect_id === id);
    // Its place has signed that it would act. Of the end it has said nothing, and nobody in its stead.
    assert.ok(acts.some(({ step, place_signature }) => step === 1 && place_signature));
    const { state, code, place_signature } = acts.find(({ state }) => state !== undefined);
    assert.deepEqual([state, code, place_signature], ["unknown", "place_away", undefined]);
  });

  async function sealed(): Promise<Sealed[]> {
    const receipts = await exportReceipts(loop.store, { from: 0, to: 10_000 });
    return receipts.map(({ text }) => JSON.parse(text));
  }

  async function reasonOf(ticketId: string): Promise<string | undefined> {
    const row = await loop.store.asPlatform().first<{ readonly reason: string }>(
      "SELECT data->>'reason' AS reason FROM ticket_events WHERE ticket_id = $1 AND kind = 'escalated'",
      [ticketId],
    );
    return row?.reason;
  }
});

/** Lists what receipts say of acts: intents, and ends of steps. */
const actsIn = (receipts: readonly Sealed[]) =>
  receipts.flatMap(({ details }) => [
    details,
    ...(Array.isArray(details.steps) ? details.steps : []),
  ]);

/** Stops the processes that the service of a folder has started. */
async function stopStarted(folder: string): Promise<void> {
  const lines = await readFile(join(folder, "starts.log"), "utf8").catch(() => "");
  for (const line of lines.trim().split("\n").filter(Boolean)) {
    const pid = Number(line.split(" ")[0]);
    const id = commandLine(pid).includes(folder) ? identifyProcess(pid) : undefined;
    if (id) await stopProcess(id, "SIGKILL", 0);
  }
}
