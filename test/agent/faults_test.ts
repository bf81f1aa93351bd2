import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  countRuns,
  PYTHON,
  readAcceptedSize,
  readJournal,
  runAgent,
  TestRunner,
} from "./_device.ts";
import { type Fields, RunnerScene } from "./_runner.ts";

describe("the runner, where something around it fails,", function () {
  const scene = new RunnerScene();
  const path = (...names: string[]) => join(scene.device.state, "runner", ...names);

  it("does not run by a begun receipt that is dated before times which the ledger has stated already", async () => {
    scene.start();
    const bundle = await scene.issue();
    await scene.deliver(bundle);
    scene.ledger.clockOffsetMs = 3_600_000;
    await scene.deliver(await scene.issue(0)); // it is refused, and states a time at which the other one has expired
    scene.ledger.clockOffsetMs = 0; // whoever holds the ledger's key dates the receipt back
    let ended = await scene.sealUntilEnded();
    while (ended.command_id !== bundle.command.command_id) ended = await scene.sealUntilEnded();
    assert.equal(ended.status, "expired");
    assert.equal(countRuns(scene.device), 0);
  });

  it("says unknown of a supervisor that was stopped, once it is overdue, and runs what is behind", async function () {
    if (process.platform !== "linux") return this.skip();
    scene.start();
    const script = 'echo $PPID >> "$0"; exec sleep 60';
    const argv = ["/bin/sh", "-c", script, scene.device.marker];
    const bundle = await scene.issue(1, { argv, timeout_seconds: 60 });
    await scene.deliver(bundle);
    await scene.sealNext();
    while (countRuns(scene.device) === 0) await sleep(20);
    const supervisor = Number(readFileSync(scene.device.marker, "utf8"));
    process.kill(supervisor, "SIGSTOP");
    try {
      await scene.runner.kill();
      // As if it had been started three minutes ago.
      const lines = readFileSync(path("journal.ndjson"), "utf8").trimEnd().split("\n");
      const started = JSON.parse(lines.at(-1)!);
      assert.equal(started.kind, "started");
      const earlier = lines.at(-1)!.replace(
        `"at_boot":${started.at_boot}`,
        `"at_boot":${started.at_boot - 180}`,
      );
      writeFileSync(path("journal.ndjson"), [...lines.slice(0, -1), earlier, ""].join("\n"));
      const head = { head: hash("sha256", earlier), seq: started.seq };
      writeFileSync(path("head.json"), JSON.stringify(head));
      scene.start();
      scene.runner.send({ type: "hello" });
      assert.equal((await scene.sealUntilEnded()).status, "unknown");
      await scene.deliver(await scene.issue(2));
      assert.equal((await scene.sealUntilEnded()).status, "done");
    } finally {
      process.kill(supervisor, "SIGKILL");
    }
  });

  it("waits for a command that ignores SIGTERM or forks away no longer than its timeout", async () => {
    scene.start();
    const stubborn = 'trap "" TERM; while :; do sleep 1; done';
    await scene.deliver(
      await scene.issue(1, { argv: ["/bin/sh", "-c", stubborn], timeout_seconds: 1 }),
    );
    assert.equal((await scene.sealUntilEnded()).status, "timed_out");
    const forks = "setsid sleep 60 & echo away";
    await scene.deliver(
      await scene.issue(2, { argv: ["/bin/sh", "-c", forks], timeout_seconds: 50 }),
    );
    const begun = Date.now();
    const ended = await scene.sealUntilEnded();
    assert.deepEqual([ended.status, ended.bytes], ["done", 5]);
    assert.ok(Date.now() - begun < 50_000);
  });

  it("knows exit codes where whoever started it ignores SIGCHLD", async () => {
    const ignoring = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); " +
      "os.execvp(sys.argv[1], sys.argv[1:])";
    scene.start({}, `set -- "${PYTHON}" -c '${ignoring}' "$@"`);
    await scene.deliver(await scene.issue(1, { argv: ["/bin/sh", "-c", "exit 3"] }));
    assert.equal((await scene.sealUntilEnded()).exit_code, 3);
  });

  it("gives arguments to programs as UTF-8, whatever the locale, and keeps to the bound of the output", async () => {
    scene.start({ LC_ALL: "POSIX", PYTHONUTF8: "0" });
    await scene.deliver(await scene.issue(1, { argv: ["/usr/bin/printf", "%s", "žluť 😀"] }));
    const { status, bytes } = await scene.sealUntilEnded();
    assert.deepEqual([status, bytes], ["done", Buffer.byteLength("žluť 😀")]);
    await scene.deliver(
      await scene.issue(2, { argv: [`/no/${"long/".repeat(100)}`], output_bytes: 20 }),
    );
    const none = await scene.sealUntilEnded();
    assert.deepEqual([none.status, none.bytes], ["failed", 20]);
  });

  it("loses nothing where its disk is full, and goes on where there is room", async () => {
    // Room for the journal's next lines, not for the command's bundle.
    scene.start({}, "ulimit -f 1");
    const bundle = await scene.issue(1, { argv: ["/bin/echo", "x".repeat(3000)] });
    await assert.rejects(scene.deliver(bundle), /File too large|No space/);
    assert.deepEqual(readJournal(scene.device).map(({ kind }) => kind), ["enrolled"]);
    scene.start();
    assert.equal((await scene.deliver(bundle)).result, "begun");
    assert.equal((await scene.sealUntilEnded()).status, "done");
  });

  it("goes on where a command's folder was taken away or its result is damaged", async () => {
    scene.start();
    const script = 'echo ran >> "$0"; until [ -e "$0.go" ]; do sleep 0.1; done';
    const argv = ["/bin/sh", "-c", script, scene.device.marker];
    const gone = await scene.issue(1, { argv });
    await scene.deliver(gone);
    await scene.sealNext();
    while (countRuns(scene.device) === 0) await sleep(20);
    // Its supervisor may be writing there.
    rmSync(path("commands", gone.command.command_id), { recursive: true, maxRetries: 10 });
    writeFileSync(`${scene.device.marker}.go`, "");
    assert.equal((await scene.sealUntilEnded()).status, "unknown");

    const damaged = await scene.issue(2);
    await scene.deliver(damaged);
    await scene.sealNext();
    await scene.sealNext(); // ended
    const egress = (await scene.runner.take("statement")).body as Fields;
    unlinkSync(path("commands", damaged.command.command_id, "output"));
    const { record, salt } = scene.gateway.seal(scene.device.id, egress);
    scene.runner.send({ type: "sealed", sequence: egress.sequence, record, salt });
    await scene.deliver(await scene.issue(3));
    assert.equal((await scene.sealUntilEnded()).status, "done");
  });

  it("finds that journal and head were put back, by the receipts that it has", async () => {
    const before = [path("journal.ndjson"), path("head.json")].map((file) =>
      [file, readFileSync(file)] as const
    );
    scene.start();
    await scene.deliver(await scene.issue());
    await scene.sealUntilEnded();
    await scene.sealNext();
    await scene.runner.kill();
    for (const [file, content] of before) writeFileSync(file, content);
    scene.start();
    const { blocked } = await scene.runner.ask({ type: "hello" }, "state");
    assert.match(String(blocked), /ends before line \d+, whose receipt came/);
    await scene.runner.kill();
    const release = ["release", "--user", "--state", scene.device.state, "20", "1"];
    assert.equal((await runAgent(...release)).code, 0);
    assert.equal((await runAgent(...release)).code, 0);
    const kept = readdirSync(path()).filter((name) => name.startsWith("journal.ndjson.before-20-"));
    assert.equal(kept.length, 2, "a journal was overwritten");
    scene.start();
    await scene.deliver(await scene.issue(2));
    assert.equal((await scene.sealUntilEnded()).status, "done");
  });

  it("runs no command a second time that any of its journals knows, whatever number it has", async () => {
    scene.start();
    const { command } = await scene.issue();
    const again = (sequence: number) =>
      scene.issue(sequence, { command_id: command.command_id }).then((one) => scene.deliver(one));
    const bundle = await scene.ledger.issue(command);
    assert.equal((await scene.deliver(bundle)).result, "begun");
    await scene.sealUntilEnded();
    assert.equal((await again(2)).code, "sequence_used");
    await scene.runner.kill();
    for (const numbers of [["20", "1"], ["30", "1"]]) {
      const { code } = await runAgent(
        "release",
        "--user",
        "--state",
        scene.device.state,
        ...numbers,
      );
      assert.equal(code, 0);
      scene.start();
      assert.equal((await again(3)).code, "sequence_used");
      await scene.runner.kill();
      // What a journal can't tell any more, the command's folder does, and the other way round.
      rmSync(path("commands"), { recursive: true, force: true });
    }
    assert.equal(countRuns(scene.device), 1);
  });

  it("does not run a command again that has ended as unknown, by the same signature and another number", async () => {
    scene.start();
    const argv = ["/bin/sh", "-c", 'echo ran >> "$0"; exec sleep 60', scene.device.marker];
    const first = await scene.issue(1, { argv });
    await scene.deliver(first);
    await scene.sealNext();
    while (countRuns(scene.device) === 0) await sleep(20);
    rmSync(path("commands", first.command.command_id), { recursive: true, maxRetries: 10 });
    assert.equal((await scene.sealUntilEnded()).status, "unknown");
    const second = await scene.ledger.issue({ ...first.command, sequence: 2 });
    const { result, code } = await scene.deliver(second);
    assert.deepEqual([result, code], ["refused", "sequence_used"]);
    assert.equal(countRuns(scene.device), 1);
  });

  it("does nothing for others that a person does on the device", async () => {
    scene.start();
    const names = ["release", "uninstall", "enroll", "run", "talk", "runner", "check-folder"];
    for (const [n, name] of ["", ...names].entries()) {
      const argv = ["sealoop-agent", ...name ? [name] : [], "--yes"];
      assert.equal((await scene.deliver(await scene.issue(n + 1, { argv }))).code, "out_of_bounds");
      await scene.sealUntilEnded();
    }
    const argv = ["sealoop-agent", "status", "--state", "/nowhere"];
    await scene.deliver(await scene.issue(20, { argv }));
    assert.equal(
      (await scene.sealUntilEnded()).status,
      "done",
      "it is its own state that is shown",
    );
  });

  for (
    const [name, change] of Object.entries<(text: string) => string>({
      "a line that was cut": (text) => text.slice(0, -9),
      "zeros after the last line": (text) => `${text}${"\0".repeat(4096)}`,
    })
  ) {
    it(`takes a journal with ${name} by a crash as it was before`, async () => {
      scene.start();
      await scene.deliver(await scene.issue());
      await scene.sealUntilEnded();
      await scene.sealNext();
      await scene.runner.stop();
      const text = readFileSync(path("journal.ndjson"), "utf8");
      const torn = change(`${text}${'{"half":"a line"}'}`);
      writeFileSync(path("journal.ndjson"), torn);
      scene.start();
      assert.equal((await scene.runner.ask({ type: "hello" }, "state")).blocked, null);
      assert.equal(readFileSync(path("journal.ndjson"), "utf8"), text);
    });
  }

  it("seals a hundred refusals an hour for a talker that has gone wild, and answers the rest", async () => {
    const asked = scene.start();
    const log = await scene.ledger.log(readAcceptedSize(scene.device));
    const bundle = await scene.issue();
    for (let n = 0; n < 130; n++) {
      const salt = n.toString(16).padStart(64, "0");
      const wrong = { ...bundle, salt, approvals: [{}] };
      const answer = await asked.ask({ type: "command", log, bundle: wrong }, "result");
      assert.equal(answer.code, "bad_shape");
    }
    assert.equal(readJournal(scene.device).filter(({ kind }) => kind === "refused").length, 100);
  });

  it("waits for the lock of a runner that has just been killed, and not for that of one which lives", async () => {
    scene.start();
    await scene.runner.ask({ type: "hello" }, "state");
    const second = new TestRunner(scene.device);
    await second.ended;
    assert.match(second.errors, /another runner uses/);
    const third = new TestRunner(scene.device);
    await scene.runner.kill();
    scene.runner = third;
    assert.equal((await scene.runner.ask({ type: "hello" }, "state")).type, "state");
  });
});
