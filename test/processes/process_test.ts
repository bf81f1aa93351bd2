import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { SUPERVISED } from "../../processes/mod.ts";
import { program } from "../_programs.ts";

interface Line {
  level: string;
  service: string;
  msg: string;
}

describe("runProcess()", () => {
  let entry: string;
  let running: ChildProcess | undefined;

  before(async () => {
    entry = await program("test/processes/_probe.ts");
  });

  afterEach(() => running?.kill("SIGKILL"));

  it("says that it is ready and where, and stops gracefully on SIGTERM", async () => {
    const probe = launch();
    assert.deepEqual(await probe.message(), { ready: true, address: "http://probe/" });
    probe.process.kill("SIGTERM");
    assert.equal(await probe.code, 0);
    const lines = probe.lines();
    assert.deepEqual(lines.map(({ msg }) => msg), ["ready", "stopping", "draining", "stopped"]);
    assert.ok(lines.every(({ service }) => service === "probe"));
  });

  it("stops gracefully when the process that started it has gone", async () => {
    const probe = launch();
    await probe.message();
    probe.process.disconnect();
    assert.equal(await probe.code, 0);
    assert.ok(probe.lines().some(({ msg }) => msg === "draining"));
  });

  it("waits for its go when it is supervised, and takes its settings from there", async () => {
    const probe = launch({}, [SUPERVISED]);
    assert.deepEqual(await probe.message(), { loaded: true });
    await sleep(100);
    assert.deepEqual(probe.lines(), []);
    const place = { id: "00000000-0000-4000-8000-000000000001", restarts: 0 };
    probe.process.send({ start: true, place, env: { PROBE: "told" } });
    assert.deepEqual(await probe.message(), { ready: true, address: "http://probe/told" });
  });

  it("ends with one line when its work cannot start", async () => {
    const probe = launch({ PROBE: "fail" });
    assert.equal(await probe.code, 1);
    const [line, ...more] = probe.lines();
    assert.deepEqual([line!.level, line!.msg], ["fatal", "The probe was told to fail"]);
    assert.deepEqual(more, []);
  });

  it("ends with one line when something fails that nobody waited for", async () => {
    const probe = launch({ PROBE: "later" });
    assert.equal(await probe.code, 1);
    assert.equal(probe.lines().at(-1)!.msg, "nobody waits for this");
  });

  it("names the settings that it lacks", async () => {
    const probe = launch({ PROBE: "database" });
    assert.equal(await probe.code, 1);
    assert.match(probe.lines()[0]!.msg, /set SEALOOP_DATABASE_LEDGER_URL, or use `npm start`/);
  });

  it("refuses settings that it does not know, before anything else", async () => {
    const probe = launch({ SEALOOP_NONSENSE: "1" });
    assert.equal(await probe.code, 1);
    assert.match(probe.errors(), /SEALOOP_NONSENSE is not a setting/);
  });

  function launch(env: Record<string, string> = {}, args: string[] = []) {
    const child = fork(entry, args, {
      execArgv: [],
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    running = child;
    const text = { out: "", err: "" };
    child.stdout!.on("data", (chunk) => text.out += chunk);
    child.stderr!.on("data", (chunk) => text.err += chunk);
    return {
      process: child,
      code: Promise.all([
        once(child, "exit"),
        ...[child.stdout!, child.stderr!].map((stream) => once(stream, "close")),
      ]).then(([[code]]) => code as number | null),
      message: () => once(child, "message").then(([message]) => message as unknown),
      lines: () => text.out.split("\n").filter(Boolean).map((line) => JSON.parse(line) as Line),
      errors: () => text.err,
    };
  }
});
