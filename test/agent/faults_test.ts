import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeviceBundle, DeviceCommand } from "../../domain/mod.ts";
import {
  countRuns,
  type Device,
  enroll,
  PYTHON,
  readAcceptedSize,
  readJournal,
  runAgent,
  TestRunner,
} from "./_device.ts";
import { TestGateway } from "./_gateway.ts";
import { makeCommand, type TestLedger } from "./_ledger.ts";

type Fields = Record<string, unknown>;

describe("the runner, where something around it fails,", function () {
  this.timeout(60_000);
  let gateway: TestGateway;
  let ledger: TestLedger;
  let device: Device;
  let runner: TestRunner | undefined;
  beforeEach(async () => {
    gateway = await new TestGateway().start();
    ledger = gateway.ledger;
    device = await enroll(gateway);
  });
  afterEach(async () => {
    await runner?.kill();
    await gateway.stop();
  });

  const path = (...names: string[]) => join(device.state, "runner", ...names);
  const issue = (sequence = 1, more: Partial<DeviceCommand> = {}) =>
    ledger.issue(makeCommand(device.id, sequence, device.marker, more));
  async function deliver(bundle: DeviceBundle) {
    const log = await ledger.log(readAcceptedSize(device));
    const message = { type: "command", log, bundle: await ledger.proveAgain(bundle) };
    return await runner!.ask(message, "result");
  }
  async function sealNext(): Promise<Fields> {
    const body = (await runner!.take("statement")).body as Fields;
    const { record, salt } = gateway.seal(device.id, body);
    runner!.send({ type: "sealed", sequence: body.sequence, record, salt });
    return body;
  }
  async function sealUntilEnded(): Promise<Fields> {
    for (;;) {
      const body = await sealNext();
      if (body.phase === "ended") return body;
    }
  }

  it("does not run by a begun receipt that is dated before times which the ledger has stated already", async () => {
    runner = new TestRunner(device);
    ledger.clockOffsetMs = 60_000;
    const expires_at = new Date(Date.now() + 60_500).toISOString();
    await deliver(await issue(1, { expires_at }));
    ledger.clockOffsetMs = 0; // whoever holds the ledger's key dates the receipt back
    await sleep(700);
    assert.equal((await sealUntilEnded()).status, "expired");
    assert.equal(countRuns(device), 0);
  });

  it("says unknown of a supervisor that was stopped, once it is overdue, and runs what is behind", async function () {
    if (process.platform !== "linux") return this.skip();
    runner = new TestRunner(device);
    const script = 'echo $PPID >> "$0"; exec sleep 30';
    const argv = ["/bin/sh", "-c", script, device.marker];
    const bundle = await issue(1, { argv, timeout_seconds: 1 });
    await deliver(bundle);
    await sealNext();
    while (countRuns(device) === 0) await sleep(20);
    const supervisor = Number(readFileSync(device.marker, "utf8"));
    process.kill(supervisor, "SIGSTOP");
    try {
      await runner.kill();
      // As if it had been started two minutes ago.
      const lines = readFileSync(path("journal.ndjson"), "utf8").trimEnd().split("\n");
      const started = JSON.parse(lines.at(-1)!);
      assert.equal(started.kind, "started");
      const earlier = lines.at(-1)!.replace(
        `"at_boot":${started.at_boot}`,
        `"at_boot":${started.at_boot - 120}`,
      );
      writeFileSync(path("journal.ndjson"), [...lines.slice(0, -1), earlier, ""].join("\n"));
      const head = { head: hash("sha256", earlier), seq: started.seq };
      writeFileSync(path("head.json"), JSON.stringify(head));
      runner = new TestRunner(device);
      runner.send({ type: "hello" });
      assert.equal((await sealUntilEnded()).status, "unknown");
      await deliver(await issue(2));
      assert.equal((await sealUntilEnded()).status, "done");
    } finally {
      process.kill(supervisor, "SIGKILL");
    }
  });

  it("waits for a command that ignores SIGTERM or forks away no longer than its timeout", async () => {
    runner = new TestRunner(device);
    const stubborn = 'trap "" TERM; while :; do sleep 1; done';
    await deliver(await issue(1, { argv: ["/bin/sh", "-c", stubborn], timeout_seconds: 1 }));
    assert.equal((await sealUntilEnded()).status, "timed_out");
    const forks = "setsid sleep 20 & echo away";
    await deliver(await issue(2, { argv: ["/bin/sh", "-c", forks] }));
    const begun = Date.now();
    const ended = await sealUntilEnded();
    assert.deepEqual([ended.status, ended.bytes], ["done", 5]);
    assert.ok(Date.now() - begun < 10_000);
  });

  it("knows exit codes where whoever started it ignores SIGCHLD", async () => {
    const ignoring = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); " +
      "os.execvp(sys.argv[1], sys.argv[1:])";
    runner = new TestRunner(device, {}, `set -- "${PYTHON}" -c '${ignoring}' "$@"`);
    await deliver(await issue(1, { argv: ["/bin/sh", "-c", "exit 3"] }));
    assert.equal((await sealUntilEnded()).exit_code, 3);
  });

  it("gives arguments to programs as UTF-8, whatever the locale, and keeps to the bound of the output", async () => {
    runner = new TestRunner(device, { LC_ALL: "POSIX", PYTHONUTF8: "0" });
    await deliver(await issue(1, { argv: ["/usr/bin/printf", "%s", "žluť 😀"] }));
    const { status, bytes } = await sealUntilEnded();
    assert.deepEqual([status, bytes], ["done", Buffer.byteLength("žluť 😀")]);
    await deliver(await issue(2, { argv: [`/no/${"long/".repeat(100)}`], output_bytes: 20 }));
    const none = await sealUntilEnded();
    assert.deepEqual([none.status, none.bytes], ["failed", 20]);
  });

  it("loses nothing where its disk is full, and goes on where there is room", async () => {
    // Room for the journal's next lines, not for the command's bundle.
    runner = new TestRunner(device, {}, "ulimit -f 1");
    const bundle = await issue(1, { argv: ["/bin/echo", "x".repeat(3000)] });
    await assert.rejects(deliver(bundle), /File too large|No space/);
    assert.deepEqual(readJournal(device).map(({ kind }) => kind), ["enrolled"]);
    runner = new TestRunner(device);
    assert.equal((await deliver(bundle)).result, "begun");
    assert.equal((await sealUntilEnded()).status, "done");
  });

  it("goes on where a command's folder was taken away or its result is damaged", async () => {
    runner = new TestRunner(device);
    const sleeping = { argv: ["/bin/sh", "-c", 'echo ran >> "$0"; sleep 1', device.marker] };
    const gone = await issue(1, sleeping);
    await deliver(gone);
    await sealNext();
    while (countRuns(device) === 0) await sleep(20);
    rmSync(path("commands", gone.command.command_id), { recursive: true });
    assert.equal((await sealUntilEnded()).status, "unknown");

    const damaged = await issue(2);
    await deliver(damaged);
    await sealNext();
    await sealNext(); // ended
    const egress = (await runner.take("statement")).body as Fields;
    unlinkSync(path("commands", damaged.command.command_id, "output"));
    const { record, salt } = gateway.seal(device.id, egress);
    runner.send({ type: "sealed", sequence: egress.sequence, record, salt });
    await deliver(await issue(3));
    assert.equal((await sealUntilEnded()).status, "done");
  });

  it("finds that journal and head were put back, by the receipts that it has", async () => {
    const before = [path("journal.ndjson"), path("head.json")].map((file) =>
      [file, readFileSync(file)] as const
    );
    runner = new TestRunner(device);
    await deliver(await issue());
    await sealUntilEnded();
    await sealNext();
    await runner.kill();
    for (const [file, content] of before) writeFileSync(file, content);
    runner = new TestRunner(device);
    const { blocked } = await runner.ask({ type: "hello" }, "state");
    assert.match(String(blocked), /ends before line \d+, whose receipt came/);
    await runner.kill();
    const release = ["release", "--user", "--state", device.state, "20", "1"];
    assert.equal((await runAgent(...release)).code, 0);
    assert.equal((await runAgent(...release)).code, 0);
    const kept = readdirSync(path()).filter((name) => name.startsWith("journal.ndjson.before-20-"));
    assert.equal(kept.length, 2, "a journal was overwritten");
    runner = new TestRunner(device);
    await deliver(await issue(2));
    assert.equal((await sealUntilEnded()).status, "done");
  });

  for (
    const [name, change] of Object.entries<(text: string) => string>({
      "a line that was cut": (text) => text.slice(0, -9),
      "zeros after the last line": (text) => `${text}${"\0".repeat(4096)}`,
    })
  ) {
    it(`takes a journal with ${name} by a crash as it was before`, async () => {
      runner = new TestRunner(device);
      await deliver(await issue());
      await sealUntilEnded();
      await sealNext();
      await runner.stop();
      const text = readFileSync(path("journal.ndjson"), "utf8");
      const torn = change(`${text}${'{"half":"a line"}'}`);
      writeFileSync(path("journal.ndjson"), torn);
      runner = new TestRunner(device);
      assert.equal((await runner.ask({ type: "hello" }, "state")).blocked, null);
      assert.equal(readFileSync(path("journal.ndjson"), "utf8"), text);
    });
  }

  it("seals a hundred refusals an hour for a talker that has gone wild, and answers the rest", async () => {
    const asked = runner = new TestRunner(device);
    const log = await ledger.log(readAcceptedSize(device));
    const bundle = await issue();
    for (let n = 0; n < 130; n++) {
      const salt = n.toString(16).padStart(64, "0");
      const wrong = { ...bundle, salt, approvals: [{}] };
      const answer = await asked.ask({ type: "command", log, bundle: wrong }, "result");
      assert.equal(answer.code, "bad_shape");
    }
    assert.equal(readJournal(device).filter(({ kind }) => kind === "refused").length, 100);
  });

  it("waits for the lock of a runner that has just been killed, and not for that of one which lives", async () => {
    runner = new TestRunner(device);
    await runner.ask({ type: "hello" }, "state");
    const second = new TestRunner(device);
    await second.ended;
    assert.match(second.errors, /another runner uses/);
    const third = new TestRunner(device);
    await runner.kill();
    runner = third;
    assert.equal((await runner.ask({ type: "hello" }, "state")).type, "state");
  });
});
