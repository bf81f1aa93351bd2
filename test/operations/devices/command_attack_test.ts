import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { canonicalize } from "../../../ledger/mod.ts";
import type { People } from "../../api/_people.ts";
import { addTestDevice, rawKey, type TestDevice } from "./protocol/_devices.ts";
import { addMachine, type Machine, openCommandPlatform } from "./_commands.ts";

describe("commands of devices, under attack", () => {
  let people: People;
  let machine: Machine;
  before(async () => {
    people = await openCommandPlatform();
    machine = await addMachine(people);
  });
  after(async () => {
    await machine?.stop();
    await people?.stop();
  });

  const order = (who: string, id = machine.id) =>
    people.call("POST", `/v1/devices/${id}/command`, who, { script_id: "uptime" });

  describe("by another tenant", () => {
    let own: TestDevice;
    let commandId: string;
    let sequence = 0;
    before(async () => {
      own = await addTestDevice(people.platform.store, people.url, "elsewhere");
      commandId = (await order("ann")).body.command_id;
      await machine.until(commandId, "sealed");
    });

    /** Seals a statement that the attacker's own runner has signed. */
    async function state(fields: object, device = own.id) {
      const statement = {
        action: "command_execution",
        sequence: ++sequence,
        nonce: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        ...fields,
      };
      const text = Buffer.from(canonicalize(statement));
      const signature = sign(null, text, own.runner.privateKey).toString("hex");
      const body = canonicalize({ ...statement, signature });
      const path = `/v1/shield/devices/${device}/seal`;
      const answer = await fetch(people.url + path, {
        method: "POST",
        headers: own.sign(path, body),
        body,
      });
      await answer.arrayBuffer();
      return answer.status;
    }

    it("there are no such device, command, workflow and approval", async () => {
      assert.equal((await order("rival")).status, 404);
      const waiting = (await order("program")).body;
      for (
        const [method, path] of [
          ["GET", `/v1/devices/${machine.id}/command`],
          ["GET", `/v1/devices/${machine.id}/resources`],
          ["POST", `/v1/workflows/${waiting.workflow_id}/cancel`],
          ["POST", `/v1/approvals/${waiting.approval_id}/approve`],
          ["GET", `/v1/approvals/${waiting.approval_id}/info`],
        ] as const
      ) {
        const { status } = await people.call(
          method,
          path,
          "rival",
          method === "POST" ? {} : undefined,
        );
        assert.equal(status, 404, path);
      }
      const { body } = await people.call("GET", "/v1/shield/devices", "rival");
      assert.ok(!JSON.stringify(body).includes(machine.id));
      assert.equal((await machine.read(waiting.command_id)).status, "waiting_approval");
    });

    it("a device states nothing about another one's command, nor in its name", async () => {
      const end = { command_id: commandId, phase: "ended", status: "done", exit_code: 0 };
      await state(end);
      assert.equal(await state(end, machine.id), 404);
      assert.equal((await machine.read(commandId)).status, "sealed");
    });

    it("a device's heartbeat moves no other one's command, and brings it none", async () => {
      const acks = [{ command_id: commandId, result: "refused", code: "expired" }];
      const { status, body } = await own.beat({ acks });
      assert.deepEqual([status, body.commands], [200, []]);
      assert.equal((await machine.read(commandId)).status, "sealed");
    });

    it("a device's signature opens nothing that is for keys", async () => {
      const path = `/v1/devices/${own.id}/command`;
      const body = JSON.stringify({ script_id: "uptime" });
      const answer = await fetch(people.url + path, {
        method: "POST",
        headers: own.sign(path, body),
        body,
      });
      assert.equal(answer.status, 401);
    });
  });

  it("are given by no key of a lower tier, and by no agent without people", async () => {
    assert.equal((await order("free")).status, 403);
    const agent = await people.agent();
    const arguments_ = { agent_id: machine.id, script_id: "uptime" };
    const result = await agent.callTool({ name: "rmm_run_script", arguments: arguments_ });
    assert.match(JSON.stringify(result), /APR-[0-9a-f]{12}/);
    assert.doesNotMatch(JSON.stringify(result), /"status\\?":\\?"(queued|sealed)/);
  });

  it("by the operator with all server keys are refused where the device has approvers pinned", async () => {
    const { publicKey } = generateKeyPairSync("ed25519");
    // The database names no approvers: the platform issues without a signature, and proves what it issued.
    const guarded = await addMachine(people, { signatures_required: 1, keys: [rawKey(publicKey)] });
    guarded.start();
    try {
      const { command_id } = (await order("ann", guarded.id)).body;
      const { code } = await guarded.until(command_id, "refused", "done");
      assert.equal(code, "approval_missing");
      assert.ok(!existsSync(join(guarded.state, "runner", "commands", command_id)));
    } finally {
      await guarded.stop();
    }
  });
});
