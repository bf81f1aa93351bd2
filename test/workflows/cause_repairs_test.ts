import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type LoopResult, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import {
  actOnce,
  findPortHolder,
  probe,
  type Service,
  stopManagedProcess,
} from "../../integrations/host/mod.ts";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { identifyProcess, stopProcess } from "../../runtime/embedded/mod.ts";
import { replaceRunbookValues } from "../../store/catalogue/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { listRepairsOfTicket, listTicketEvents, openTicket } from "../../store/incidents/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { writeRunbooks } from "./_runbooks.ts";
import { listEffectsOn } from "./_ticket_record.ts";

/** A server that answers with a status. */
const answering = (status: number, port: number) =>
  `require("http").createServer((_, res) => res.writeHead(${status}).end()).listen(${port}, "127.0.0.1")`;

/** Clocks that are wrong by an offset in seconds, which a command sets to another one. */
const CLOCKS = [
  { how: "ahead", offset: 7_200, sets: 0, outcome: "sealed" },
  { how: "behind", offset: -7_200, sets: 0, outcome: "sealed" },
  { how: "not set right", offset: 7_200, sets: 3_600, outcome: "escalated" },
] as const;

describe("repairs of causes that were observed", () => {
  let loop: TestLoop;
  const closing: (() => unknown)[] = [];
  let clocks: string;
  let inVain: Promise<LoopResult>;
  before(async () => {
    clocks = await testFolder();
    const programs = CLOCKS.map((_, n) => join(clocks, `set-${n}`));
    for (const [n, { sets }] of CLOCKS.entries()) {
      const script = `#!/bin/sh\necho ${sets} > ${join(clocks, `offset-${n}`)}\n`;
      await writeFile(programs[n]!, script, { mode: 0o755 });
    }
    const own = join(await testFolder(), "runbooks");
    await writeRunbooks(own, {}, programs);
    loop = await openLoop({ settings: { SEALOOP_RUNBOOKS: own } });
    const values = programs.map((program, n) => [`clock-${n}`, { clock_command: [program] }]);
    await replaceRunbookValues(loop.store.db, Object.fromEntries(values));
    inVain = healClock(CLOCKS.findIndex(({ outcome }) => outcome === "escalated")); // looks for long
    inVain.catch(() => {}); // reported by its test
  });
  after(async () => {
    for (const close of closing) await close();
    await loop?.stop();
  });

  async function put(more: Partial<Service> & Pick<Service, "name">): Promise<Service> {
    const service: Service = {
      type: "web",
      host: "localhost",
      owner: null,
      origin: "file",
      watched: false,
      dependsOn: [],
      restart: null,
      check: null,
      ...more,
    };
    await putService(loop.store.db, service);
    closing.push(() => stopManagedProcess(loop.config.dataDir, service.name));
    return service;
  }

  async function heal(service: Service, code: string): Promise<LoopResult> {
    const finding = await createServiceFinding(loop.store, service, code);
    return await loop.client.workflow.execute<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
  }

  async function serviceOnPort(name: string) {
    const port = await freePort();
    const check = { http: `http://127.0.0.1:${port}/` };
    const restart = { process: { command: [process.execPath, "-e", answering(200, port)] } };
    return { port, service: await put({ name, check, restart }) };
  }

  /** Lets the platform start the service, which fails as its port is taken. */
  async function startInVain({ name, restart }: Service) {
    const { dataDir } = loop.config;
    await actOnce({
      dataDir,
      effectId: randomBytes(12).toString("hex"),
      service: name,
      act: restart!,
    });
  }

  /** Serves a service whose clock is off by the seconds in a file; while it is, tokens are refused. */
  async function serviceByClock(name: string, file: string) {
    const server = createServer((_, res) => {
      const offset = Number(readFileSync(file, "utf8"));
      res.sendDate = false;
      res.setHeader("date", new Date(Date.now() + 1_000 * offset).toUTCString());
      res.writeHead(offset === 0 ? 200 : 401).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    return await put({ name, check: { http: `http://127.0.0.1:${port}/` } });
  }

  /** Heals a service by one of the clocks. */
  async function healClock(n: number): Promise<LoopResult> {
    const file = join(clocks, `offset-${n}`);
    await writeFile(file, String(CLOCKS[n]!.offset));
    return await heal(await serviceByClock(`clock-${n}`, file), "status_401");
  }

  it("stop a process that sealoop has left behind on the port of a service", async () => {
    const { port, service } = await serviceOnPort("left-behind");
    const { dataDir } = loop.config;
    const worker = `require("child_process").spawn(process.execPath, ["-e", ${
      JSON.stringify(answering(404, port))
    }], { detached: true, stdio: "ignore" }); setInterval(() => {}, 1000)`;
    await actOnce({
      dataDir,
      effectId: randomBytes(12).toString("hex"),
      service: service.name,
      act: { process: { command: [process.execPath, "-e", worker] } },
    });
    await eventually(async () => (await probe(service.check!)).code === "status_404");
    await stopManagedProcess(dataDir, service.name);
    const holder = (await findPortHolder(dataDir, port))!;
    closing.push(() => stopProcess(holder, "SIGKILL", 0));
    await startInVain(service);
    const { outcome, ticket_id } = await heal(service, "status_404");
    assert.equal(identifyProcess(holder.pid), undefined);
    const events = await listTicketEvents(loop.store.db, ticket_id!);
    assert.equal(events.find(({ kind }) => kind === "diagnosed")!.data.action, "port-taken");
    assert.equal(outcome, "sealed");
  });

  it("tell people who else holds the port, and stop nobody", async () => {
    const { port, service } = await serviceOnPort("taken");
    const stranger: ChildProcess = spawn(process.execPath, ["-e", answering(404, port)], {
      stdio: "ignore",
    });
    closing.push(() => stranger.kill("SIGKILL"));
    await eventually(async () => (await probe(service.check!)).code === "status_404");
    await startInVain(service);
    const { outcome, ticket_id } = await heal(service, "status_404");
    const events = await listTicketEvents(loop.store.db, ticket_id!);
    assert.equal(outcome, "escalated");
    assert.equal(stranger.exitCode, null);
    const { cause, passed_over } = events.find(({ kind }) => kind === "diagnosed")!.data;
    assert.equal(cause, "port_taken");
    const why = (passed_over as { runbook: string; why: string }[])
      .find(({ runbook }) => runbook === "port-taken")!.why;
    assert.match(
      why,
      new RegExp(`process ${stranger.pid}, .*since 20.*sealoop has not started it`),
    );
    assert.deepEqual(await listEffectsOn(loop.store, service.name), []);
  });

  it("do nothing to a service whose dependency fails, and look again when that is up", async () => {
    const [port, needed] = [await freePort(), await freePort()];
    const server = createServer(async (_, res) => {
      const { healthy } = await probe({ tcp: `127.0.0.1:${needed}` });
      res.writeHead(healthy ? 200 : 503).end();
    }).listen(port, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    const stock = await put({ name: "stock", check: { tcp: `127.0.0.1:${needed}` } });
    const shop = await put({
      name: "shop",
      check: { http: `http://127.0.0.1:${port}/` },
      restart: { process: { command: ["sleep", "60"] } },
      dependsOn: [{ service: stock.name, kind: "depends_on" }],
    });
    const own = await createServiceFinding(loop.store, stock, "refused");
    await openTicket(
      loop.store.db,
      {
        id: "INC-0123456789ab",
        fingerprint: own.fingerprint,
        service: stock.name,
        title: "stock",
        description: "stock refuses connections",
        severity: "high",
        phase: "detected",
        workflowId: "loop-of-stock",
        runId: "none",
        requestedBy: "schedule",
      },
    );
    const healing = heal(shop, "status_503");
    await eventually(async () => {
      const events = await listTicketEvents(loop.store.db, "INC-0123456789ab");
      return events.some(({ kind }) => kind === "notified");
    });
    const other = createServer().listen(needed, "127.0.0.1");
    await once(other, "listening");
    closing.push(() => other.close());
    const { outcome, ticket_id } = await healing;
    assert.equal(outcome, "sealed");
    const events = await listTicketEvents(loop.store.db, ticket_id!);
    assert.equal(
      events.find(({ kind }) => kind === "notified")!.data.message,
      "shop fails with stock, which it needs; INC-0123456789ab is about that. Nothing is done here.",
    );
    const effects = await listEffectsOn(loop.store, shop.name);
    assert.deepEqual(effects.map(({ step }) => step), ["join"]);
  });

  for (const [n, { how, sets, outcome }] of CLOCKS.entries()) {
    it(`set a clock that is ${how}, and look at the service to prove it: ${outcome}`, async () => {
      const { outcome: ended, ticket_id } = await (outcome === "sealed" ? healClock(n) : inVain);
      assert.equal(ended, outcome);
      assert.equal((await readFile(join(clocks, `offset-${n}`), "utf8")).trim(), String(sets));
      const events = await listTicketEvents(loop.store.db, ticket_id!);
      const { cause, action } = events.find(({ kind }) => kind === "diagnosed")!.data;
      assert.deepEqual([cause, action], ["clock_wrong", "clock-wrong"]);
      const told = events.find(({ kind }) => kind === "notified")!.data.message;
      assert.match(String(told), /^The clock of .* is off by 7(?:200|199|201) seconds\.$/);
      const repairs = await listRepairsOfTicket(loop.store.db, ticket_id!);
      assert.deepEqual(
        repairs.map(({ runbook, verified }) => [runbook, verified]),
        [["clock-wrong", outcome === "sealed"]],
      );
    });
  }
});
