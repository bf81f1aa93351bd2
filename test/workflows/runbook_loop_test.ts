import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { chmod, mkdir, open, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { stringify } from "yaml";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import {
  type LoopResult,
  type PlaceSignature,
  PLATFORM_TENANT,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { loadCatalogue, measureUsage, putInForce } from "../../judgement/runbooks/mod.ts";
import { replaceRunbookValues } from "../../store/catalogue/mod.ts";
import {
  listObservations,
  listRepairsOfTicket,
  listTicketEvents,
} from "../../store/incidents/mod.ts";
import { putServices, removeService } from "../../store/cmdb/mod.ts";
import type { itsmLoop, itsmSweep } from "../../workflows/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";
import { shipped, writeOldFile } from "../judgement/runbooks/_runbook.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { countingProgram, killEffect, runbookStep, writeRunbooks } from "./_runbooks.ts";
import { listEffectsOn, readTicketRecord, type Receipt } from "./_ticket_record.ts";

const PUT_BACK = { put_back: true };

describe("the loop with runbooks", () => {
  let loop: TestLoop;
  let own: string;
  let inVain: Promise<LoopResult>;
  let undoLost: Promise<LoopResult>;
  let again: Promise<LoopResult>;
  let repeated: Awaited<ReturnType<typeof countingProgram>>;
  let spool: string;
  let ran: Awaited<ReturnType<typeof countingProgram>>;
  let heals: typeof ran;

  before(async () => {
    own = join(await testFolder(), "runbooks");
    spool = join(await testFolder(), "spool");
    ran = await countingProgram(await testFolder(), "helps-nobody");
    heals = await countingProgram(await testFolder(), "heals");
    const dumps = join(await testFolder(), "dumps");
    await writeFile(
      dumps,
      "#!/bin/sh\necho the first line\nyes 'a frame of the stack' | head -c 40000\n" +
        "echo password=hunter2\necho thread 7 waits >&2\nexit 3\n",
    );
    await chmod(dumps, 0o755);
    const absent = join(await testFolder(), "absent");
    const once = await countingProgram(await testFolder(), "helps-not-either");
    const lost = await countingProgram(await testFolder(), "is-lost", 60);
    repeated = await countingProgram(await testFolder(), "is-repeated");
    for (const n of [1, 2]) await writeOldFile(join(spool, `${n}.done`), 3);
    const clean = { folders: [spool], match: ["*.done"], older_than: "1d" };
    await writeRunbooks(own, {
      "in-vain": {
        match: { services: ["in-vain"] },
        steps: [
          runbookStep("move", { clean, undo: PUT_BACK }),
          runbookStep("run", { command: { argv: [ran.path] } }),
        ],
      },
      "undo-lost": {
        match: { services: ["undo-lost"] },
        steps: [
          runbookStep("run", {
            command: { argv: [once.path] },
            undo: { command: { argv: [lost.path] } },
          }),
        ],
      },
      "looked-at": {
        match: { services: ["looked-at"] },
        steps: [
          runbookStep("dump", { look: { argv: [dumps] } }),
          runbookStep("more", { look: { argv: [absent] } }),
          runbookStep("heal", { command: { argv: [heals.path] } }),
        ],
      },
      "again-first": {
        match: { services: ["again"] },
        order: 10,
        steps: [runbookStep("run", { command: { argv: [repeated.path] } })],
      },
      "again-second": {
        match: { services: ["again"] },
        order: 20,
        steps: [
          runbookStep("look", { look: { argv: [dumps] } }),
          runbookStep("run-it", { command: { argv: [repeated.path] } }),
        ],
      },
      changing: {
        match: { services: ["changing"] },
        steps: [runbookStep("run", { command: { argv: [ran.path] } })],
      },
    }, [ran.path, once.path, lost.path, repeated.path, heals.path, dumps, absent]);
    loop = await openLoop({
      settings: { SEALOOP_RUNBOOKS: own, SEALOOP_DETECTORS: await detectorsFile() },
    });
    inVain = loopOf(await service("in-vain")); // takes three times fifteen seconds
    undoLost = losingUndo(await service("undo-lost"));
    again = loopOf(await service("again"));
    for (const result of [inVain, undoLost, again]) result.catch(() => {}); // reported by its test
  });
  after(() => loop?.stop());

  /** Registers a service that refuses connections. */
  async function service(name: string, more: Partial<Service> = {}): Promise<Service> {
    const made: Service = {
      name,
      type: "web",
      host: "localhost",
      owner: null,
      origin: "file",
      watched: false,
      dependsOn: [],
      restart: null,
      check: { tcp: `127.0.0.1:${await freePort()}` },
      ...more,
    };
    await putServices(loop.store.asPlatform(), [made]);
    return made;
  }

  async function loopOf(service: Service): Promise<LoopResult> {
    const finding = await createServiceFinding(loop.store, service, "refused");
    return await loop.client.workflow.execute<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
  }

  /** Runs a loop whose undoing is killed. */
  async function losingUndo(service: Service): Promise<LoopResult> {
    const result = loopOf(service);
    const effectId = await eventually(async () => {
      return (await listEffectsOn(loop.store, service.name)).find(({ undoes }) => undoes !== null)
        ?.id;
    });
    await killEffect(loop.config.dataDir, effectId);
    return await result;
  }

  const recordOf = (ticketId: string | null) => readTicketRecord(loop.store, ticketId!);

  it("has every shipped runbook allowed by the guardrails", async () => {
    for (const { runbook, steps } of shipped.runbooks) {
      const command = steps.flatMap(({ command, look }) =>
        [command, look].flatMap((one) => one ? [filled(one.argv)] : [])
      );
      const { decision, rails } = await loop.engine.validate({
        incident: `A service fails: ${runbook.replaceAll("-", " ")}`,
        action: {
          description: steps.map(({ does }) => does).join(" "),
          ...(command.length > 0 ? { command: command.join("\n") } : {}),
          confidence: 0.99,
          blast_radius: 1,
          touches_secrets: false,
        },
      }, PLATFORM_TENANT);
      const reasons = rails.flatMap((rail) => rail.passed ? [] : rail.reasons).join("; ");
      assert.notEqual(decision, "deny", `${runbook}: ${reasons}`);
      const acts = steps.some(({ command }) => command);
      if (!acts && command.length > 0) assert.equal(decision, "allow", `${runbook}: ${reasons}`);
    }
  });

  it("keeps what looks of a runbook see as observations, before it repairs", async () => {
    const looked = await service("looked-at", {
      check: { command: ["test", "-e", `${heals.path}.log`] },
    });
    const finding = await createServiceFinding(loop.store, looked, "exit_1");
    const { outcome, ticket_id } = await loop.client.workflow.execute<typeof itsmLoop>(
      WORKFLOW.itsmLoop,
      {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `loop-${finding.fingerprint}`,
        args: [finding],
      },
    );
    assert.equal(outcome, "sealed");
    const all = await listObservations(loop.store.asPlatform(), ticket_id!);
    const [dump, gone] = all.filter(({ source }) => source === "runbook");
    assert.deepEqual([dump!.code, dump!.number], ["looked", all.length - 1]);
    assert.equal(dump!.says, "Does the step dump. It ended with exit 3.");
    assert.match(dump!.text!, /thread 7 waits\n$/);
    assert.doesNotMatch(dump!.text!, /hunter2|the first line/);
    assert.ok(Buffer.byteLength(dump!.text!) <= 18 * 1_024);
    assert.deepEqual([gone!.code, gone!.figures?.reason], ["not_had", "no_program"]);
    const { effects, events } = await recordOf(ticket_id);
    assert.deepEqual(effects.map(({ step, state }) => [step, state]), [["heal", "done"]]);
    assert.ok(events.includes("permitted") && !events.includes("approval_requested"));
  });

  it("undoes what did not help, last step first, and seals the intent", async () => {
    const result = await inVain;
    assert.equal(result.outcome, "escalated");
    const { events, receipts, effects } = await recordOf(result.ticket_id);
    assert.deepEqual(readdirSync(spool).sort(), ["1.done", "2.done"]);
    assert.equal(await ran.times(), 1);
    assert.deepEqual(events, [
      "detected",
      "opened",
      "diagnosed",
      "permitted",
      "intended",
      "step_done",
      "intended",
      "step_done",
      "remediated",
      "verification_failed",
      "undo_intended",
      "undone",
      "diagnosed",
      "escalated",
    ]);
    assert.deepEqual(receipts.map(({ category }) => category), [
      "ticket_opened",
      ...["guardrail_verdict", "repair_intended", "repair_intended", "undo_intended"],
      "escalation",
    ]);
    assert.deepEqual(receipts.at(-1)!.details.undone, {
      state: "done",
      code: "undone",
      steps: [{
        effect_id: effects[0]!.id,
        kind: "clean",
        state: "done",
        code: effects[0]!.detail.code,
        counts: effects[0]!.detail.counts,
        ...effects[0]!.detail.signed as PlaceSignature,
      }],
    });
    const [undone, second, first] = effects;
    assert.equal((undone!.detail.signed as PlaceSignature).step, 1);
    assert.deepEqual([undone!.undoes, undone!.state], [first!.id, "done"]);
    assert.deepEqual([first!.step, second!.step, second!.undoes], ["move", "run", null]);
  });

  it("does not do again by another runbook what did not help", async () => {
    const { outcome, ticket_id } = await again;
    assert.equal(outcome, "escalated");
    assert.equal(await repeated.times(), 1);
    const events = await listTicketEvents(loop.store.asPlatform(), ticket_id!);
    const { passed_over } = events.findLast(({ kind }) => kind === "diagnosed")!.data;
    assert.deepEqual(
      (passed_over as { runbook: string; code: string }[])
        .filter(({ runbook }) => runbook.startsWith("again-"))
        .map(({ runbook, code }) => [runbook, code]),
      [["again-first", "did_not_help"], ["again-second", "did_not_help"]],
    );
  });

  it("escalates if the result of undoing is unknown, and seals that", async () => {
    const result = await undoLost;
    assert.equal(result.outcome, "escalated");
    const { events, receipts, effects } = await recordOf(result.ticket_id);
    assert.deepEqual(events.slice(-3), ["undo_intended", "undo_failed", "escalated"]);
    assert.deepEqual(effects.map(({ state }) => state), ["unknown", "done"]);
    const { category, outcome, details } = receipts.at(-1)!;
    const undone = details.undone as { state: string; code: string; steps: { state: string }[] };
    assert.deepEqual([category, outcome, details.reason, details.effect, details.rounds], [
      "escalation",
      "unknown",
      "unknown_effect",
      "done",
      1,
    ]);
    assert.deepEqual([undone.state, undone.code, undone.steps.map(({ state }) => state)], [
      "unknown",
      "no_exit",
      ["unknown"],
    ]);
  });

  it("puts runbooks in force once, and seals each change with the hashes before and after", async () => {
    const sealed = async () => {
      const all = (await exportReceipts(loop.store, { from: 0, to: 10_000 })).map(({ text }) =>
        JSON.parse(text) as Receipt
      );
      return all.filter(({ category, subject }) =>
        /^(runbook|config)_change$/.test(category) && subject !== "knowledge"
      );
    };
    const settle = async () => {
      await loop.sealer.request({
        id: `end-${Math.random()}`.replace(".", ""),
        category: "test",
        actor: "test",
        subject: "x",
        action: "wait",
        outcome: "ok",
      }).then(({ id }) => loop.sealer.sealed(id));
    };
    const first = loadCatalogue(loop.config);
    await putInForce(loop.store, first);
    await putInForce(loop.store, first);
    await settle();
    assert.deepEqual((await sealed()).map(({ category }) => category), [
      "runbook_change",
      "config_change",
    ]);
    writeFileSync(
      join(own, "changing.yaml"),
      stringify({
        ...first.runbooks.find(({ runbook }) => runbook === "changing")!,
        version: "1.1.0",
        origin: undefined,
        sha256: undefined,
      }),
    );
    const second = loadCatalogue(loop.config);
    await putInForce(loop.store, second);
    await settle();
    const { details, outcome } = (await sealed()).at(-1)!;
    const hashOf = ({ runbooks }: typeof first) =>
      runbooks.find(({ runbook }) => runbook === "changing")!.sha256;
    assert.deepEqual([outcome, details.own_changes, details.changes], ["in_force", 1, []]);
    const published = JSON.stringify(await sealed());
    for (const one of [first, second]) assert.ok(!published.includes(hashOf(one)));
    const old = await loop.store.asPlatform().first(
      "SELECT name, version, active FROM runbooks WHERE sha256 = $1",
      [hashOf(first)],
    );
    assert.deepEqual(old, { name: "changing", version: "1.0.0", active: false });
  });

  describe("when the disk of a database that a service needs is full", () => {
    let place: NonNullable<Awaited<ReturnType<typeof fullDatabase>>>;
    before(async function () {
      const made = await fullDatabase(loop, disk);
      if (!made) return this.skip(); // mounting a disk takes root
      place = made;
    });
    after(() => place?.close());

    it("names the disk as the root, cleans within bounds, verifies, closes and seals", async () => {
      assert.equal((await fetch(place.url)).status, 502);
      const result = await loop.client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: "sweep-disk",
        args: ["key:test"],
      });
      assert.deepEqual([result.loops.length, result.outcome], [1, "sealed"]);
      const { ticket, receipts, effects, events } = await recordOf(result.ticket_id!);
      assert.deepEqual([ticket.service, ticket.status], ["orders-db", "resolved"]);
      assert.match(ticket.resolution!, /^Runbook database-disk-full /);
      assert.equal((await fetch(place.url)).status, 200);
      assert.ok(measureUsage(disk).bytes.percent < 80);
      assert.ok(existsSync(join(disk, "data", "table")), "the data were never touched");
      assert.ok(readdirSync(join(disk, "dumps")).includes("9.dump"), "the newest dump stays");
      assert.deepEqual(effects.map(({ step, state, detail }) => [step, state, detail.code]), [
        ["purge", "not_done", "kept_elsewhere"],
        ["move-old-dumps", "done", "moved_elsewhere"],
      ]);
      const [repair] = await listRepairsOfTicket(loop.store.asPlatform(), result.ticket_id!);
      assert.deepEqual([repair!.state, repair!.verified], ["done", true]);
      assert.deepEqual(events, [
        "detected",
        "opened",
        "diagnosed",
        "permitted",
        "intended",
        "step_done",
        "intended",
        "step_done",
        "remediated",
        "verified",
        "resolved",
      ]);
      const { category, details } = receipts.at(-1)!;
      assert.deepEqual([category, details.symptom, details.effect, details.effect_code], [
        "self_heal",
        "disk_full",
        "done",
        "moved_elsewhere",
      ]);
      const [moved] = details.steps as { counts: { files: number } }[];
      assert.ok(moved!.counts.files > 0);
    });
  });

  let disk: string;
  async function detectorsFile(): Promise<string> {
    const folder = await testFolder();
    disk = join(folder, "disk");
    await mkdir(disk);
    const off = { enabled: false };
    const path = join(folder, "detectors.yaml");
    await writeFile(
      path,
      stringify({
        host_resources: {
          every_disk: false,
          memory_percent: 100,
          load_per_core: 1_000,
          disks: [{ path: disk, service: "orders-db" }],
        },
        logs: off,
        certificates: off,
        platform: off,
      }),
    );
    return path;
  }
});

/** Returns a command as it would be typed in a shell, with a name in place of every parameter. */
const filled = (argv: readonly string[]) =>
  argv.map((arg) => `'${arg.replace(/\{[a-z_]+\}/, "name").replaceAll("'", `'\\''`)}'`).join(" ");

/** Creates a database whose disk is full, and a service that needs it. */
async function fullDatabase({ store }: TestLoop, disk: string) {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  for (let n = 1; n <= 4; n++) await writeOldFile(join(disk, "dumps", `${n}.dump`), 9 - n, 2 ** 20);
  await writeOldFile(join(disk, "dumps", "9.dump"), 0, 2 ** 16);
  await mkdir(join(disk, "data"));
  const table = await open(join(disk, "data", "table"), "a");
  const write = () => table.write(Buffer.alloc(65_536, "x"));
  try {
    while (true) await write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
  const server = createServer(async (req, res) => {
    const stored = await write().then(() => 200, () => 507);
    res.writeHead(stored === 200 ? 200 : req.url === "/orders" ? 502 : 507).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const common = {
    host: "localhost",
    owner: null,
    origin: "file" as const,
    watched: true,
    restart: null,
  };
  await putServices(store.asPlatform(), [
    { ...common, name: "orders-db", type: "database", check: { http: `${at}/db` }, dependsOn: [] },
    {
      ...common,
      name: "orders",
      type: "web",
      check: { http: `${at}/orders` },
      dependsOn: [{ service: "orders-db", kind: "depends_on" }],
    },
  ]);
  await replaceRunbookValues(store.asPlatform(), {
    "orders-db": { folders: [join(disk, "dumps")] },
  });
  return {
    url: `${at}/orders`,
    async close() {
      await new Promise<unknown>((resolve) => server.close(resolve));
      await table.close();
      for (const name of ["orders", "orders-db"]) await removeService(store.asPlatform(), name);
      await rm(join(disk, "dumps"), { recursive: true });
      execFileSync("umount", [disk]);
    },
  };
}
