import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Place, SUPERVISED } from "../../processes/mod.ts";
import {
  listProcesses,
  type ProcessRecord,
  type ProcessReport,
  reportProcesses,
} from "../../store/platform/mod.ts";
import { startGateway, type TestGateway } from "../api/_gateway.ts";
import { program } from "../_programs.ts";
import { freePort, testFolder } from "../_run.ts";
import { storeAs } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";
import { eventually } from "../_time.ts";

describe("the platform's processes", () => {
  let gateway: TestGateway;
  let admin: string;
  let folder: string;
  const children: ChildProcess[] = [];

  before(async () => {
    gateway = await startGateway();
    admin = await gateway.key({ tier: "admin" });
    folder = await testFolder();
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });
  after(() => gateway.stop());

  async function list(): Promise<Record<string, unknown>[]> {
    const { status, body } = await gateway.call(admin, "GET", "/v1/admin/services");
    assert.equal(status, 200);
    return body.services;
  }

  const records = () => listProcesses(gateway.platform.store.asPlatform());
  const find = async (name: string) => (await records()).filter((one) => one.name === name);

  /** Waits until the processes of a name are in these states. */
  async function until(name: string, ...statuses: string[]): Promise<ProcessRecord> {
    const [first] = await eventually(async () => {
      const found = await find(name);
      return isDeepStrictEqual(found.map(({ status }) => status), statuses) ? found : undefined;
    });
    return first!;
  }

  async function start(
    name: "ledger" | "worker",
    { settings = {}, place }: { settings?: Record<string, string>; place?: Place } = {},
  ): Promise<ChildProcess> {
    const role = name.toUpperCase();
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      SEALOOP_DATA: folder,
      SEALOOP_LOG_LEVEL: "silent",
      SEALOOP_LEDGER_PORT: String(await freePort()),
      [`SEALOOP_DATABASE_${role}_URL`]: gateway.urls[name],
      ...settings,
    };
    const child = fork(await program(`processes/${name}.ts`), place ? [SUPERVISED] : [], {
      execArgv: [],
      env: env as NodeJS.ProcessEnv,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    children.push(child);
    if (place) {
      await once(child, "message");
      child.send({ start: true, place, env: {} });
    }
    return child;
  }

  it("are absent until they are started, and for admins alone; servers are asked", async () => {
    const names = (await list()).map(({ name, status }) => `${name}: ${status}`);
    assert.deepEqual(names, [
      "gateway: absent", // this one is not a process of its own
      "mcp: absent",
      "worker: absent",
      "sequencer: absent",
      "engine: absent",
      "ledger: absent",
      "signer: absent",
      "postgresql: running",
      "temporal: silent",
    ]);
    const postgresql = (await list()).find(({ name }) => name === "postgresql");
    assert.match(String(postgresql!.version), /^\d+/);
    assert.equal(postgresql!.pid, null, "nobody here keeps it");
    const partner = await gateway.key();
    assert.equal((await gateway.call(partner, "GET", "/v1/admin/services")).status, 403);
  });

  it("are silent while they are stopped, and when they were killed", async () => {
    const ledger = await start("ledger");
    const { pid, host, version, restarts, waitsFor } = await until("ledger", "running");
    assert.deepEqual([pid, host, restarts, waitsFor], [ledger.pid, hostname(), null, null]);
    assert.match(version, /^\d+\.\d+\.\d+/);
    ledger.kill("SIGSTOP");
    await letTimePass();
    const stopped = await until("ledger", "silent");
    assert.equal(stopped.pid, ledger.pid);
    ledger.kill("SIGCONT");
    await until("ledger", "running");
    ledger.kill("SIGKILL");
    await once(ledger, "exit");
    await letTimePass();
    const { since } = await until("ledger", "silent");
    const line = (await list()).find(({ name }) => name === "ledger")!;
    assert.deepEqual([line.status, line.since], ["silent", since.toISOString()]);
    await forgetAll();
  });

  it("are gone when they have ended as they should", async () => {
    const ledger = await start("ledger");
    await until("ledger", "running");
    ledger.kill("SIGTERM");
    await once(ledger, "exit");
    await until("ledger");
  });

  it("keep their place when they are restarted, with the number of restarts", async () => {
    const id = "00000000-0000-4000-8000-000000000001";
    const first = await start("ledger", { place: { id, restarts: 0 } });
    assert.equal((await until("ledger", "running")).restarts, 0);
    first.kill("SIGKILL");
    await once(first, "exit");
    const second = await start("ledger", { place: { id, restarts: 1 } });
    while ((await until("ledger", "running")).pid !== second.pid) await sleep(100);
    assert.equal((await find("ledger"))[0]!.restarts, 1);
    second.kill("SIGTERM");
    await once(second, "exit");
  });

  it("say what they wait for", async () => {
    await start("worker", { settings: { TEMPORAL_ADDRESS: "127.0.0.1:9" } });
    const waiting = await eventually(async () => {
      const [worker] = await find("worker");
      return worker?.waitsFor === "Temporal" ? worker : undefined;
    });
    assert.equal(waiting.status, "waiting");
  });

  it("are judged by the database's clock alone, also when that was set back", async () => {
    const superuser = asSuperuser(gateway.platform.store);
    await forgetAll();
    const ledger = await storeAs(gateway.platform.store, "ledger");
    await eventually(async () => { // reports are old after seconds
      await reportProcesses(ledger.asPlatform(), [report("ledger")]);
      return (await find("ledger"))[0]!.status === "running" || undefined;
    });
    await superuser.execute("UPDATE processes SET heard_at = heard_at + interval '1 hour'");
    assert.equal((await find("ledger"))[0]!.status, "silent", "it was heard of in the future");
    await superuser.execute("UPDATE processes SET heard_at = heard_at - interval '3 hours'");
    assert.deepEqual(await find("ledger"), [], "it is forgotten");
  });

  it("can tell of their own role alone", async () => {
    await forgetAll();
    const ledger = (await storeAs(gateway.platform.store, "ledger")).asPlatform();
    const engine = (await storeAs(gateway.platform.store, "engine")).asPlatform();
    await assert.rejects(reportProcesses(ledger, [report("gateway")]), /check constraint/);
    await reportProcesses(engine, [report("engine")]);
    const { id } = report("engine");
    await assert.rejects(
      reportProcesses(ledger, [{ ...report("ledger"), id }]),
      /row-level security/,
    );
    assert.deepEqual(await listProcesses(ledger), [], "nor does it see others");
    assert.equal(await ledger.execute("DELETE FROM processes"), 0);
  });

  /** Makes the last reports older, by less than makes a process silent that still tells of itself. */
  const letTimePass = () =>
    asSuperuser(gateway.platform.store).execute(
      "UPDATE processes SET heard_at = heard_at - interval '3 seconds'",
    );

  const forgetAll = () => asSuperuser(gateway.platform.store).execute("DELETE FROM processes");

  function report(name: ProcessReport["name"]): ProcessReport {
    const id = "00000000-0000-4000-8000-000000000002";
    const process = { host: "other", pid: 1, version: "0.1.0", restarts: null };
    return { id, name, ...process, status: "running", waitsFor: null, polls: null };
  }
});
