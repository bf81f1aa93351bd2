import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { countRuns, type Device, enroll, readJournal, TestRunner } from "./_device.ts";
import { TestGateway } from "./_gateway.ts";
import { type Bundle, type Command, keys, makeCommand, type TestLedger } from "./_ledger.ts";

describe("the runner", () => {
  let gateway: TestGateway;
  let ledger: TestLedger;
  let runner: TestRunner | undefined;
  beforeEach(async () => {
    gateway = await new TestGateway().start();
    ledger = gateway.ledger;
  });
  afterEach(async () => {
    await runner?.kill();
    await gateway.stop();
  });

  /** Gives a bundle to the runner, and returns its answer. */
  async function deliver(bundle: Bundle, log?: unknown) {
    const { log_size } = await runner!.ask({ type: "hello" }, "state");
    const message = { type: "command", log: log ?? await ledger.log(Number(log_size)), bundle };
    return await runner!.ask(message, "result");
  }
  /** Seals the runner's next statement, and returns it. */
  async function sealNext(device: Device) {
    const { body } = await runner!.take("statement");
    const { record, salt } = gateway.seal(device.id, body as Record<string, unknown>);
    const { sequence } = body as { sequence: number };
    runner!.send({ type: "sealed", sequence, record, salt });
    return body as Record<string, unknown>;
  }
  async function issue(device: Device, sequence = 1, more: Partial<Command> = {}) {
    return await ledger.issue(makeCommand(device.id, sequence, device.marker, more));
  }

  it("runs what was issued once its begun receipt is back, and delivers the output once that is sealed", async () => {
    const device = await enroll(gateway);
    runner = new TestRunner(device);
    const bundle = await issue(device);
    assert.equal((await deliver(bundle)).result, "begun");
    await sleep(300);
    assert.equal(countRuns(device), 0, "it ran before begun was sealed");
    const begun = await sealNext(device);
    assert.equal(begun.phase, "begun");
    const ended = await sealNext(device);
    assert.deepEqual([ended.status, ended.exit_code, ended.bytes], ["done", 0, 7]);
    const egress = await sealNext(device);
    assert.deepEqual([egress.action, egress.bytes], ["data_egress", 7]);
    const output = await runner.take("output");
    assert.equal(Buffer.from(String(output.output), "base64").toString(), "output\n");
    assert.equal(countRuns(device), 1);
    assert.equal((await deliver(bundle)).result, "known");
    assert.equal(countRuns(device), 1);
  });
});
