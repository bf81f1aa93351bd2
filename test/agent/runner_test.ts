import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeviceBundle, DeviceCommand } from "../../domain/mod.ts";
import { makeKey } from "../ledger/hostile/_chain.ts";
import { testFolder } from "../_run.ts";
import {
  countRuns,
  type Device,
  enroll,
  readAcceptedSize,
  readJournal,
  runAgent,
  TestRunner,
} from "./_device.ts";
import { TestGateway } from "./_gateway.ts";
import { makeCommand, type TestLedger } from "./_ledger.ts";

type Fields = Record<string, unknown>;

const TEN_YEARS = 10 * 365 * 24 * 3600;
const KILL_ROUNDS = 20;

describe("the runner", function () {
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

  /** Gives a bundle to the runner with fresh proofs, and returns its answer. */
  async function deliver(bundle: DeviceBundle) {
    const log = await ledger.log(readAcceptedSize(device));
    const message = { type: "command", log, bundle: await ledger.proveAgain(bundle) };
    return await runner!.ask(message, "result");
  }
  /** Seals the runner's next statement, and returns it. */
  async function sealNext(more: Fields = {}): Promise<Fields> {
    const body = (await runner!.take("statement")).body as Fields;
    const { record, salt } = gateway.seal(device.id, body);
    runner!.send({ type: "sealed", sequence: body.sequence, record, salt, ...more });
    return body;
  }
  /** Seals statements until one ends the command. */
  async function sealUntilEnded(): Promise<Fields> {
    for (;;) {
      const body = await sealNext();
      if (body.phase === "ended") return body;
    }
  }
  const issue = (sequence = 1, more: Partial<DeviceCommand> = {}) =>
    ledger.issue(makeCommand(device.id, sequence, device.marker, more));

  it("runs what was issued once its begun receipt is back, and lets go of the output once that is sealed", async () => {
    runner = new TestRunner(device);
    const bundle = await issue();
    assert.equal((await deliver(bundle)).result, "begun");
    await sleep(300);
    assert.equal(countRuns(device), 0, "it ran before begun was sealed");
    assert.equal((await sealNext()).phase, "begun");
    const ended = await sealNext();
    assert.deepEqual([ended.status, ended.exit_code, ended.bytes], ["done", 0, 7]);
    const egress = await sealNext();
    assert.deepEqual([egress.action, egress.bytes], ["data_egress", 7]);
    const output = await runner.take("output");
    assert.equal(Buffer.from(String(output.output), "base64").toString(), "output\n");
    assert.equal((await deliver(bundle)).result, "known");
    assert.equal(countRuns(device), 1);
  });

  it("takes a log that was asked for before it accepted another one as neither right nor wrong", async () => {
    runner = new TestRunner(device);
    ledger.seal({});
    const before = readAcceptedSize(device);
    const early = await ledger.log(before);
    const bundle = await issue();
    await runner.ask({ type: "log", log: early, from: before }, "state");
    const log = await ledger.log(before);
    const late = await runner.ask({ type: "command", log, bundle, from: before }, "result");
    assert.equal(late.result, "stale");
    assert.ok(readJournal(device).every(({ kind }) => kind !== "refused"));
    assert.equal((await deliver(bundle)).result, "begun");
  });

  it("does not run for the receipt of another statement, or one that somebody else has signed", async () => {
    runner = new TestRunner(device);
    await deliver(await issue());
    const body = (await runner.take("statement")).body as Fields;
    const { record, salt } = ledger.sealPrivately({}, "statement", { ...body, nonce: "00" });
    const { sequence } = body;
    await runner.ask({ type: "sealed", sequence, record, salt }, "receipt_refused");
    const fields = { details: { commitments: { statement: "00" } } };
    const forged = ledger.seal(fields, makeKey("somebody"));
    await runner.ask({ type: "sealed", sequence, record: forged, salt }, "receipt_refused");
    await sleep(300);
    assert.equal(countRuns(device), 0);
  });

  it("follows a ledger whose key was changed meanwhile", async () => {
    runner = new TestRunner(device);
    ledger.rotate(makeKey("next ledger key"));
    const rotations = [ledger.records.length - 1];
    const bundle = await ledger.issue(makeCommand(device.id, 1, device.marker), { rotations });
    const { result, reason } = await deliver(bundle);
    assert.equal(result, "begun", String(reason));
    const succession = [ledger.rotate(makeKey("a third key"))];
    await sealNext({ succession });
    assert.equal((await sealNext({ succession })).status, "done");
    const all = { rotations: [...rotations, ledger.records.indexOf(succession[0]!)] };
    const next = await deliver(await ledger.issue(makeCommand(device.id, 2, device.marker), all));
    assert.equal(next.result, "begun", String(next.reason));
  });

  it("says how a command failed, ran too long, or wrote too much", async () => {
    runner = new TestRunner(device);
    const cases: [Partial<DeviceCommand>, Fields][] = [
      [{ argv: ["/bin/sh", "-c", "exit 3"] }, { status: "failed", exit_code: 3 }],
      [{ argv: ["/no/such/program"] }, { status: "failed", exit_code: 126 }],
      [{ argv: ["/bin/sh", "-c", "sleep 60 & sleep 60"], timeout_seconds: 1 }, {
        status: "timed_out",
      }],
      [{ argv: ["/bin/sh", "-c", "head -c 100000 /dev/zero"], output_bytes: 10 }, {
        status: "done",
        bytes: 10,
      }],
    ];
    for (const [n, [more, expected]] of cases.entries()) {
      await deliver(await issue(n + 1, more));
      const ended = await sealUntilEnded();
      const shown = Object.fromEntries(Object.keys(expected).map((name) => [name, ended[name]]));
      assert.deepEqual(shown, expected);
    }
  });

  it("gives a command nothing of its own: no files, no environment, no terminal", async () => {
    runner = new TestRunner(device, { SECRET: "of the agent" });
    const script = "ls /proc/self/fd | wc -l; env | sort | cut -d= -f1 | tr '\\n' ' '; pwd";
    await deliver(await issue(1, { argv: ["/bin/sh", "-c", script] }));
    await sealUntilEnded();
    await sealNext();
    const { output } = await runner.take("output");
    const [files, names] = Buffer.from(String(output), "base64").toString().split("\n");
    assert.ok(Number(files) <= 4, files);
    assert.deepEqual(
      names!.replace(/\/$/, "").trim().split(" ").filter((name) => !/^(PWD|SHLVL|_)$/.test(name)),
      [
        "HOME",
        "LANG",
        "LOGNAME",
        "PATH",
        "SEALOOP_COMMAND_ID",
        "USER",
      ],
    );
  });

  it("lets a command end as expired whose begun receipt comes too late, and takes the next", async () => {
    runner = new TestRunner(device);
    const expires_at = new Date(Date.now() + 1500).toISOString();
    await deliver(await issue(1, { expires_at }));
    await sleep(1800);
    assert.equal((await sealUntilEnded()).status, "expired");
    await deliver(await issue(2));
    assert.equal((await sealUntilEnded()).status, "done");
    assert.equal(countRuns(device), 1);
  });

  it("does not run a command whose begun receipt somebody held back until it expired", async () => {
    runner = new TestRunner(device);
    await deliver(await issue(1, { expires_at: new Date(Date.now() + 2000).toISOString() }));
    const body = (await runner.take("statement")).body as Fields;
    const { record, salt } = gateway.seal(device.id, body); // in time
    await sleep(2500);
    runner.send({ type: "sealed", sequence: body.sequence, record, salt });
    assert.equal((await sealUntilEnded()).status, "expired");
    assert.equal(countRuns(device), 0);
  });

  for (const [name, shift] of [["ahead", TEN_YEARS], ["behind", -TEN_YEARS]] as const) {
    it(`works where the machine's clock is ten years ${name}`, async function () {
      const preload = await buildClockShim();
      if (!preload) return this.skip();
      const env = { LD_PRELOAD: preload, CLOCK_SHIFT_SECONDS: String(shift) };
      const python = "import time; print(int(time.time()))";
      const shown = execFileSync("python3", ["-I", "-c", python], {
        env: { ...process.env, ...env },
      });
      assert.ok(
        Math.abs(Number(shown) - Date.now() / 1000 - shift) < 60,
        "the clock is not shifted",
      );
      runner = new TestRunner(device, env);
      await deliver(await issue());
      assert.equal((await sealUntilEnded()).status, "done");
      const late = await issue(2, { expires_at: new Date(Date.now() - 1000).toISOString() });
      assert.equal((await deliver(late)).code, "expired");
    });
  }

  it("is never twice and always decided, killed at random moments", async function () {
    this.timeout(120_000);
    const wait = 'echo ran >> "$0"; sleep 0.05; echo "$SEALOOP_COMMAND_ID" >> "$0.ids"';
    const results: unknown[] = [];
    for (let round = 1; round <= KILL_ROUNDS; round++) {
      const bundle = await issue(round, { argv: ["/bin/sh", "-c", wait, device.marker] });
      let isDone = false;
      for (let attempt = 0; !isDone; attempt++) {
        runner = new TestRunner(device);
        try {
          await runner.ask({ type: "hello" }, "state");
          if (attempt < 2) setTimeout((one: TestRunner) => one.kill(), randomInt(150), runner);
          const { result } = await deliver(bundle);
          assert.ok(["begun", "known", "busy"].includes(String(result)), String(result));
          while (!isDone) {
            const ended = await sealNext();
            isDone = ended.phase === "ended" && ended.command_id === bundle.command.command_id;
            if (isDone) results.push(ended.status);
          }
        } catch (error) {
          if (!String(error).includes("The runner ended: ")) throw error;
          isDone = gateway.statements.some(({ command_id, phase }) =>
            command_id === bundle.command.command_id && phase === "ended"
          );
          if (isDone) results.push("ended as it was killed");
        }
        await runner.kill();
      }
    }
    await sleep(300);
    const ids = readFileSync(`${device.marker}.ids`, "utf8").trim().split("\n");
    assert.equal(new Set(ids).size, ids.length, "a command ran twice");
    assert.ok(countRuns(device) <= KILL_ROUNDS);
    const lines = readJournal(device);
    for (const { command_id, statement } of lines) {
      if ((statement as Fields | undefined)?.status !== "unknown") continue;
      assert.ok(lines.some((line) => line.kind === "started" && line.command_id === command_id));
    }
    assert.equal(results.length, KILL_ROUNDS);
  });

  it("leaves a command running that it was killed beside, and tells its end", async () => {
    runner = new TestRunner(device);
    const script = 'echo ran >> "$0"; sleep 1; exit 7';
    await deliver(await issue(1, { argv: ["/bin/sh", "-c", script, device.marker] }));
    await sealNext();
    while (countRuns(device) === 0) await sleep(20);
    await runner.kill();
    runner = new TestRunner(device);
    runner.send({ type: "hello" });
    const { status, exit_code } = await sealUntilEnded();
    assert.deepEqual([status, exit_code, countRuns(device)], ["failed", 7, 1]);
  });

  it("says unknown where the supervisor is gone without a result, and does not run the command again", async () => {
    runner = new TestRunner(device);
    const script = 'echo $PPID $$ >> "$0"; exec sleep 30';
    const bundle = await issue(1, { argv: ["/bin/sh", "-c", script, device.marker] });
    await deliver(bundle);
    await sealNext();
    while (countRuns(device) === 0) await sleep(20);
    const [supervisor, command] = readFileSync(device.marker, "utf8").split(" ").map(Number);
    process.kill(supervisor!, "SIGKILL");
    assert.equal((await sealUntilEnded()).status, "unknown");
    process.kill(command!, "SIGKILL");
    assert.equal((await deliver(bundle)).result, "known");
    assert.equal(countRuns(device), 1);
  });

  it("finds that only its journal was put back to an earlier state, and runs nothing more", async () => {
    runner = new TestRunner(device);
    await deliver(await issue());
    await sealUntilEnded();
    await sealNext();
    await runner.kill();
    const path = join(device.state, "runner", "journal.ndjson");
    const [first] = readFileSync(path, "utf8").split("\n");
    truncateSync(path, first!.length + 1);
    runner = new TestRunner(device);
    assert.match(String((await runner.ask({ type: "hello" }, "state")).blocked), /journal/);
    assert.equal((await deliver(await issue(2))).code, "journal_rolled_back");
    assert.equal(countRuns(device), 1);
  });

  it("finds by the ledger that its whole folder was put back, does not run again, and goes on when a person says so", async () => {
    const copy = join(await testFolder(), "copy");
    cpSync(device.state, copy, { recursive: true });
    runner = new TestRunner(device);
    const bundle = await issue();
    await deliver(bundle);
    await sealUntilEnded();
    await sealNext();
    await runner.kill();
    rmSync(device.state, { recursive: true });
    cpSync(copy, device.state, { recursive: true });
    runner = new TestRunner(device);
    await deliver(bundle);
    const body = (await runner.take("statement")).body as Fields;
    assert.throws(() => gateway.seal(device.id, body), /journal_rolled_back/);
    runner.send({ type: "conflict", sequence: body.sequence });
    assert.equal((await deliver(await issue(2))).code, "journal_rolled_back");
    assert.equal(countRuns(device), 1);
    await runner.kill();
    const released = await runAgent("release", "--user", "--state", device.state, "20", "1");
    assert.equal(released.code, 0, released.output);
    runner = new TestRunner(device);
    assert.equal((await deliver(bundle)).code, "sequence_used");
    await deliver(await issue(3));
    assert.equal((await sealUntilEnded()).code, "sequence_used");
    assert.equal((await sealUntilEnded()).status, "done");
    assert.equal(countRuns(device), 2);
  });
});

/** Builds a library that shifts the wall clock of a program, as libfaketime does; undefined: there is no C compiler. */
async function buildClockShim(): Promise<string | undefined> {
  const folder = await testFolder();
  writeFileSync(
    join(folder, "shift.c"),
    `#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long shift(void) { return atol(getenv("CLOCK_SHIFT_SECONDS")); }
int clock_gettime(clockid_t id, struct timespec *at) {
  int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, at);
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) at->tv_sec += shift();
  return result;
}
int gettimeofday(struct timeval *at, void *zone) {
  int (*real)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
  int result = real(at, zone);
  at->tv_sec += shift();
  return result;
}
time_t time(time_t *out) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  if (out) *out = at.tv_sec;
  return at.tv_sec;
}
`,
  );
  try {
    const library = join(folder, "shift.so");
    execFileSync("cc", ["-shared", "-fPIC", "-o", library, join(folder, "shift.c"), "-ldl"]);
    return library;
  } catch {
    return undefined;
  }
}
