import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeviceCommand } from "../../contract/domain/mod.ts";
import { makeKey } from "../ledger/hostile/_chain.ts";
import { countRuns, readAcceptedSize, readJournal } from "./_device.ts";
import { makeCommand } from "./_ledger.ts";
import { type Fields, RunnerScene } from "./_runner.ts";

describe("the runner", () => {
  const scene = new RunnerScene();

  it("runs what was issued once its begun receipt is back, and lets go of the output once that is sealed", async () => {
    scene.start();
    const bundle = await scene.issue();
    assert.equal((await scene.deliver(bundle)).result, "begun");
    await sleep(300);
    assert.equal(countRuns(scene.device), 0, "it ran before begun was sealed");
    assert.equal((await scene.sealNext()).phase, "begun");
    const ended = await scene.sealNext();
    assert.deepEqual([ended.status, ended.exit_code, ended.bytes], ["done", 0, 7]);
    const egress = await scene.sealNext();
    assert.deepEqual([egress.action, egress.bytes], ["data_egress", 7]);
    const output = await scene.runner.take("output");
    assert.equal(Buffer.from(String(output.output), "base64").toString(), "output\n");
    assert.equal((await scene.deliver(bundle)).result, "known");
    assert.equal(countRuns(scene.device), 1);
  });

  it("takes a log that was asked for before it accepted another one as neither right nor wrong", async () => {
    scene.start();
    scene.ledger.seal({});
    const before = readAcceptedSize(scene.device);
    const early = await scene.ledger.log(before);
    const bundle = await scene.issue();
    await scene.runner.ask({ type: "log", log: early, from: before }, "state");
    const log = await scene.ledger.log(before);
    const late = await scene.runner.ask({ type: "command", log, bundle, from: before }, "result");
    assert.equal(late.result, "stale");
    assert.ok(readJournal(scene.device).every(({ kind }) => kind !== "refused"));
    assert.equal((await scene.deliver(bundle)).result, "begun");
  });

  it("does not run for the receipt of another statement, or one that somebody else has signed", async () => {
    scene.start();
    await scene.deliver(await scene.issue());
    const body = (await scene.runner.take("statement")).body as Fields;
    const { record, salt } = scene.ledger.sealPrivately({}, "statement", { ...body, nonce: "00" });
    const { sequence } = body;
    await scene.runner.ask({ type: "sealed", sequence, record, salt }, "receipt_refused");
    const fields = { details: { commitments: { statement: "00" } } };
    const forged = scene.ledger.seal(fields, makeKey("somebody"));
    await scene.runner.ask({ type: "sealed", sequence, record: forged, salt }, "receipt_refused");
    await sleep(300);
    assert.equal(countRuns(scene.device), 0);
  });

  it("follows a ledger whose key was changed meanwhile", async () => {
    scene.start();
    scene.ledger.rotate(makeKey("next ledger key"));
    const rotations = [scene.ledger.records.length - 1];
    const bundle = await scene.ledger.issue(makeCommand(scene.device.id, 1, scene.device.marker), {
      rotations,
    });
    const { result, reason } = await scene.deliver(bundle);
    assert.equal(result, "begun", String(reason));
    const succession = [scene.ledger.rotate(makeKey("a third key"))];
    await scene.sealNext({ succession });
    assert.equal((await scene.sealNext({ succession })).status, "done");
    const all = { rotations: [...rotations, scene.ledger.records.indexOf(succession[0]!)] };
    const next = await scene.deliver(
      await scene.ledger.issue(makeCommand(scene.device.id, 2, scene.device.marker), all),
    );
    assert.equal(next.result, "begun", String(next.reason));
  });

  it("says how a command failed, ran too long, or wrote too much", async () => {
    scene.start();
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
      await scene.deliver(await scene.issue(n + 1, more));
      const ended = await scene.sealUntilEnded();
      const shown = Object.fromEntries(Object.keys(expected).map((name) => [name, ended[name]]));
      assert.deepEqual(shown, expected);
    }
  });

  it("gives a command nothing of its own: no files, no environment, no terminal", async () => {
    scene.start({ SECRET: "of the agent" });
    const script = "ls /proc/self/fd | wc -l; env | sort | cut -d= -f1 | tr '\\n' ' '; pwd";
    await scene.deliver(await scene.issue(1, { argv: ["/bin/sh", "-c", script] }));
    await scene.sealUntilEnded();
    await scene.sealNext();
    const { output } = await scene.runner.take("output");
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
});
