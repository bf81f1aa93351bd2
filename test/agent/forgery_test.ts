import assert from "node:assert/strict";
import { createPublicKey, sign, verify } from "node:crypto";
import { APPROVERS_DOMAIN } from "../../contract/domain/mod.ts";
import { canonicalize } from "../../ledger/rules/mod.ts";
import type { TestKey } from "../ledger/hostile/_chain.ts";
import { type Attack, ATTACKS, OPERATORS, type Scene } from "./_attacks.ts";
import {
  copyDevice,
  countRuns,
  type Device,
  enroll,
  readAcceptedSize,
  readJournal,
  TestRunner,
} from "./_device.ts";
import { TestGateway } from "./_gateway.ts";
import { keys, makeCommand, TestLedger } from "./_ledger.ts";

const SPKI = Buffer.from("302a300506032b6570032100", "hex");

/** Signs other approvers as one of those that are pinned. */
function signApprovers(approvers: object, { hex, privateKey }: TestKey) {
  const text = canonicalize({ approvers, org_id: "platform", version: 1 });
  const signature = sign(null, Buffer.from(APPROVERS_DOMAIN + text), privateKey);
  return {
    approvers,
    version: 1,
    signatures: [{ key: hex, signature: signature.toString("hex") }],
  };
}

describe("a device that is given a forged command", () => {
  let gateway: TestGateway;
  let enrolled: Device;
  let records: readonly string[];
  let runner: TestRunner | undefined;
  let scene: Scene;

  async function open(required: number) {
    gateway = await new TestGateway().start();
    enrolled = await enroll(gateway, required);
    records = gateway.ledger.records;
    await begin();
  }
  /** Begins with a device and a ledger as they were after the enrolment. */
  async function begin() {
    await runner?.kill();
    const ledger = new TestLedger(records);
    const device = await copyDevice(enrolled);
    runner = new TestRunner(device);
    scene = {
      device,
      ledger,
      accepted: readAcceptedSize(device),
      issue: async (more = {}, how = {}) => {
        const bundle = await ledger.issue(makeCommand(device.id, 1, device.marker, more), how);
        return { log: await ledger.log(readAcceptedSize(device)), bundle };
      },
    };
  }
  async function close() {
    await runner?.kill();
    await gateway?.stop();
  }

  /** Has the runner refuse, and checks that it says so under its signature. */
  async function assertRefused(attack: Attack, code: string) {
    const { log, bundle } = await attack(scene);
    const before = readJournal(scene.device).length;
    const result = await runner!.ask({ type: "command", log, bundle }, "result");
    assert.deepEqual([result.result, result.code], ["refused", code], String(result.reason));
    const line = readJournal(scene.device).at(-1)!;
    assert.equal(line.seq, before + 1);
    const { signature, ...signed } = line.statement as Record<string, unknown>;
    assert.deepEqual([line.kind, signed.status, signed.code], ["refused", "refused", code]);
    const der = Buffer.concat([SPKI, Buffer.from(gateway.runnerKey(scene.device.id), "hex")]);
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    const text = Buffer.from(canonicalize(signed));
    assert.ok(verify(null, text, key, Buffer.from(String(signature), "hex")));
    assert.equal(countRuns(scene.device), 0);
  }

  describe("by somebody on the way, or with some of the server's keys", () => {
    before(() => open(0));
    after(close);

    // The log is accepted where the fault lies behind it: each attack needs a device that has seen nothing yet.
    for (const [name, [code, attack]] of Object.entries(ATTACKS)) {
      it(`refuses ${name} as ${code}`, async () => {
        await begin();
        await assertRefused(attack, code);
      });
    }

    it("refuses lines that are no messages, and goes on", async () => {
      for (
        const line of [
          "",
          "{",
          "[]",
          '{"type":1}',
          '{"type":"run"}',
          '{"type":"__init__"}',
          "\u0000",
        ]
      ) {
        runner!.send(line);
      }
      runner!.send(JSON.stringify({ type: "sealed" }));
      runner!.send("x".repeat(3_000_000));
      const { type } = await runner!.ask({ type: "hello" }, "state");
      assert.equal(type, "state");
      assert.equal(countRuns(scene.device), 0);
    });
  });

  describe("by the operator with all server keys, where approvers' signatures are pinned", () => {
    before(() => open(1));
    after(close);
    for (const [name, attack] of Object.entries(OPERATORS)) {
      it(`refuses ${name}`, () => assertRefused(attack, "approval_missing"));
    }

    it("runs the command that a pinned approver has signed", async () => {
      const { log, bundle } = await scene.issue({}, { approvers: [keys.approvers[1]!] });
      const result = await runner!.ask({ type: "command", log, bundle }, "result");
      assert.equal(result.result, "begun", String(result.reason));
    });

    it("runs what only looks like a script with the signatures of free arguments", async () => {
      const argv = ["/bin/sh", "-c", "id"];
      const approvers = keys.approvers.slice(0, 2);
      const { log, bundle } = await scene.issue({ argv, sequence: 2 }, { approvers });
      const result = await runner!.ask({ type: "command", log, bundle }, "result");
      assert.equal(result.result, "begun", String(result.reason));
    });

    it("takes other approvers only from those that are pinned", async () => {
      const approvers = { signatures_required: 0, keys: [] };
      const update = (signer: TestKey) => ({
        type: "approvers",
        update: signApprovers(approvers, signer),
      });
      assert.equal((await runner!.ask(update(keys.ledger), "approvers")).taken, false);
      assert.equal((await runner!.ask(update(keys.approvers[0]!), "approvers")).taken, true);
    });
  });
});
