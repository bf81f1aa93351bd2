import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { generateKeyPairSync, hash, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { commandChangedSignal, TASK_QUEUE, WORKFLOW } from "../../../contract/domain/mod.ts";
import { canonicalize } from "../../../ledger/mod.ts";
import { readMesh } from "../../../judgement/shield/mod.ts";
import { addStop, removeStop } from "../../../store/calls/mod.ts";
import { addApprovers } from "../../../store/devices/mod.ts";
import { putService } from "../../../store/cmdb/mod.ts";
import type { People } from "../../api/_people.ts";
import { rawKey } from "./protocol/_devices.ts";
import { storeDevice } from "../../judgement/shield/_stored_device.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";
import { asSuperuser, giveKey } from "../../_superuser.ts";
import { eventually } from "../../_time.ts";
import {
  addMachine,
  AGENT,
  approvalBegins,
  type Machine,
  openCommandPlatform,
  PYTHON,
} from "./_commands.ts";

describe("a command for a device", () => {
  let people: People;
  let machine: Machine;
  before(async () => {
    people = await openCommandPlatform({ SEALOOP_LIMIT_HEARTBEATS: "100000" });
    await putService(people.store.db, {
      name: "billing", // with it the guardrails ask about targets that they don't know
      type: "web",
      host: "web-9",
      owner: "ops",
      origin: "file",
      check: { tcp: "127.0.0.1:1" },
      restart: null,
      watched: false,
      dependsOn: [],
    });
    machine = await addMachine(people);
    machine.start();
  });
  after(async () => {
    await machine?.stop();
    await people?.stop();
  });

  const decide = (verb: Parameters<People["vote"]>[1], id: string, who = "ann", body = {}) =>
    people.vote(id, verb, who, body);

  it("runs once people have approved it, and leaves receipts on both sides", async () => {
    const { status, body } = await machine.order({ script_id: "uptime" });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.status, "waiting_approval");
    assert.equal((await machine.read(body.command_id)).receipts.issued, null);
    assert.equal((await decide("approve", body.approval_id)).status, 200);
    const command = await machine.until(body.command_id, "done");
    assert.deepEqual(command.approved_by, ["ann"]);
    assert.equal(command.exit_code, 0);
    const { issued, begun, ended } = command.receipts;
    for (const id of [issued, begun, ended]) await people.sealed(id);
    assert.equal(new Set([issued, begun, ended]).size, 3);
    const output = await eventually(async () => (await machine.read(body.command_id)).output);
    assert.match(output, /load average/);
    const told = execFileSync(PYTHON, [
      ...["-I", AGENT, "verify-bundle", body.command_id],
      ...["--user", "--state", machine.state],
    ], { encoding: "utf8" });
    for (const id of [issued, begun, ended]) assert.ok(told.includes(id), told);
    assert.match(told, /Nothing was found wrong/);
  });

  it("does not run when people deny it", async () => {
    const { body } = await machine.order({ script_id: "uptime" });
    await decide("deny", body.approval_id);
    const command = await machine.until(body.command_id, "refused");
    assert.deepEqual([command.code, command.receipts.issued], ["approval_denied", null]);
    const reopened = await decide("reopen", body.approval_id);
    assert.equal(reopened.status, 409, "it has ended");
  });

  it("with arguments of no script takes two people, whatever the rules say", async () => {
    const order = { command: ["echo", "two people"], reason: "To see both" };
    const { body } = await machine.order(order);
    assert.equal(body.status, "waiting_approval", JSON.stringify(body));
    assert.equal((await decide("approve", body.approval_id)).body.status, "pending");
    assert.equal((await machine.read(body.command_id)).status, "waiting_approval");
    assert.equal((await decide("approve", body.approval_id, "bob")).body.status, "approved");
    await machine.until(body.command_id, "done");
    const own = await machine.order(order, "ann");
    assert.equal(own.body.status, "waiting_approval", "ann is one of the two");
    assert.equal((await decide("approve", own.body.approval_id, "bob")).body.status, "approved");
    await machine.until(own.body.command_id, "done");
  });

  it("of a person who may approve runs at once, as the guardrails find it harmless", async () => {
    const { body } = await machine.order({ script_id: "disk-usage" }, "ann");
    assert.equal(body.approval_id, undefined, JSON.stringify(body));
    const { body: restart } = await machine.order({
      script_id: "service-restart",
      parameters: { unit: "sealoop-nothing.service" },
    }, "ann");
    assert.equal(restart.status, "waiting_approval", "what it does is not known to be harmless");
    await machine.until(body.command_id, "done");
  });

  it("measures the way to another device, for the mesh", async function () {
    const address = Object.values(networkInterfaces()).flat()
      .find((one) => one && !one.internal && one.family === "IPv4")?.address;
    if (address === undefined) this.skip(); // this machine has no address but loopback
    const superuser = asSuperuser(people.store);
    const other = await storeDevice(superuser, { inventory: {} });
    await eventually(async () =>
      await superuser.execute( // the other device has this machine's addresses
        "UPDATE device_inventories SET device_id = $1 WHERE device_id = $2 AND section = 'interfaces'",
        [other, machine.id],
      ) || undefined
    );
    const parameters = { targets: `${address}:${new URL(people.url).port}` };
    const { body } = await machine.order({ script_id: "mesh-reach", parameters });
    assert.equal((await decide("approve", body.approval_id)).status, 200);
    await machine.until(body.command_id, "done");
    const [link] = await eventually(async () => {
      const { links } = await readMesh(people.store.asPlatform());
      return links.length > 0 ? links : undefined;
    });
    assert.deepEqual([link!.from, link!.to, link!.reachable], [machine.id, other, true]);
    assert.ok(link!.microseconds! >= 0);
  });

  it("is denied by the guardrails where it destroys", async () => {
    const { status, body } = await machine.order({
      command: ["rm", "-rf", "/"],
      reason: "To make room",
    });
    assert.equal(status, 403, JSON.stringify(body));
  });

  it("is refused where it could not run", async () => {
    const unknown = await machine.order({ script_id: "no-such-script" });
    assert.equal(unknown.status, 404);
    const option = await machine.order({
      script_id: "service-restart",
      parameters: { unit: "--now" },
    });
    assert.equal(option.status, 422, JSON.stringify(option.body));
    const both = await machine.order({ script_id: "uptime", command: ["ls"], reason: "Why" });
    assert.equal(both.status, 422);
    const foreign = await machine.order({ script_id: "uptime" }, "rival");
    assert.equal(foreign.status, 404);
  });

  it("ordered by the tool goes by the same rules", async () => {
    const agent = await people.agent();
    const result = await agent.callTool({
      name: "rmm_run_script",
      arguments: { agent_id: machine.id, script_id: "uptime" },
    });
    const output = result.structuredContent as Record<string, string>;
    assert.equal(output.status, "waiting_approval", JSON.stringify(result));
    await approvalBegins(people, output.approval_id!);
    await decide("approve", output.approval_id!);
    await machine.until(output.command_id!, "done");
  });

  it("can be cancelled while its device can't have it", async () => {
    const { body } = await machine.order({ script_id: "uptime" });
    const path = `/v1/workflows/${body.workflow_id}/cancel`;
    assert.equal((await people.call("POST", path, "program", {})).status, 200);
    await machine.until(body.command_id, "cancelled");
    assert.equal((await decide("approve", body.approval_id)).status, 409);
  });

  describe("that must not be issued any more", () => {
    const stop = { kind: "tool", name: "devices.command" } as const;
    afterEach(() => removeStop(people.store.db, stop));
    const setStop = () => addStop(people.store.db, { ...stop, reason: "we look into it" });

    it("is approved in vain by nobody while such calls are stopped, and runs once they are not", async () => {
      const { body } = await machine.order({ script_id: "uptime" });
      await setStop();
      const refused = await decide("approve", body.approval_id);
      assert.equal(refused.status, 409);
      assert.match(refused.body.detail, /in vain: such calls are stopped: we look into it/);
      assert.equal((await machine.read(body.command_id)).receipts.issued, null);
      await removeStop(people.store.db, stop);
      assert.equal((await decide("approve", body.approval_id)).status, 200);
      await machine.until(body.command_id, "done");
    });

    it("is approved in vain by nobody where the key that asked was revoked since", async () => {
      const { key, record } = await giveKey(people.store, { principal: "leaves" });
      const answer = await fetch(`${people.url}/v1/devices/${machine.id}/command`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({ script_id: "uptime" }),
      });
      const { command_id, approval_id } = await answer.json() as Record<string, string>;
      await asSuperuser(people.store).execute("UPDATE keys SET revoked_at = now() WHERE id = $1", [
        record.id,
      ]);
      await approvalBegins(people, approval_id!);
      const refused = await decide("approve", approval_id!);
      assert.equal(refused.status, 409);
      assert.match(refused.body.detail, /in vain: the key that asked was revoked/);
      assert.equal((await machine.read(command_id!)).receipts.issued, null);
    });

    it("ends as it ends where it has begun: what runs is not called back, and its receipts say so", async () => {
      const mark = join(await testFolder(), "end");
      const command = ["sh", "-c", `until [ -e ${mark} ]; do sleep 0.1; done`];
      const { body } = await machine.order({ command, reason: "To see its end" });
      await decide("approve", body.approval_id);
      await decide("approve", body.approval_id, "bob");
      await machine.until(body.command_id, "begun");
      await setStop();
      writeFileSync(mark, "");
      const { receipts } = await machine.until(body.command_id, "done");
      await people.sealed(receipts.ended);
      assert.equal((await machine.order({ script_id: "uptime" })).status, 403);
    });
  });

  it("is ended, sealed, where its workflow was ended from outside", async () => {
    const { body } = await machine.order({ script_id: "uptime" });
    const { workflow } = people.loop.client;
    await workflow.getHandle(body.workflow_id).terminate("by hand");
    await asSuperuser(people.store).execute(
      "UPDATE device_commands SET created_at = now() - interval '1 hour' WHERE id = $1",
      [body.command_id],
    );
    const options = { taskQueue: TASK_QUEUE.itsm, workflowId: "reconcile", args: [] };
    await workflow.execute(WORKFLOW.reconcileRuns, options);
    const { code, receipts } = await machine.until(body.command_id, "cancelled");
    assert.equal(code, "cancelled");
    await people.sealed(receipts.ended);
  });

  describe("for a device without an agent", () => {
    let silent: Machine;
    let sequence = 0;
    before(async () => {
      silent = await addMachine(people);
    });

    /** Seals a statement of the device's runner. */
    async function state(fields: object, runner = silent.device.runner.privateKey) {
      const statement = {
        action: "command_execution",
        sequence: ++sequence,
        nonce: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        ...fields,
      };
      const signature = sign(null, Buffer.from(canonicalize(statement)), runner).toString("hex");
      const body = canonicalize({ ...statement, signature });
      const path = `/v1/shield/devices/${silent.id}/seal`;
      const headers = silent.device.sign(path, body);
      const answer = await fetch(people.url + path, { method: "POST", headers, body });
      return { status: answer.status, body: await answer.json() as Record<string, string> };
    }
    async function issued(): Promise<string> {
      const { body } = await silent.order({ script_id: "uptime" }, "ann");
      await silent.until(body.command_id, "sealed");
      return body.command_id;
    }

    const idOf = ({ command }: { command: { command_id: string } }) => command.command_id;
    /** Beats until the device gets this many commands at once, as the log's next checkpoint has to include them. */
    const received = (count: number) =>
      eventually(async () => {
        const { commands } = (await silent.device.beat()).body;
        return commands.length >= count ? commands : undefined;
      });

    it("expires, sealed, and blocks nothing behind it", async () => {
      const { body } = await silent.order({ script_id: "uptime" }, "ann");
      await silent.until(body.command_id, "sealed");
      await asSuperuser(people.store).execute(
        "UPDATE device_commands SET expires_at = now() + interval '1 second' WHERE id = $1",
        [body.command_id],
      );
      await people.loop.client.workflow.getHandle(body.workflow_id).signal(commandChangedSignal);
      const command = await silent.until(body.command_id, "expired");
      assert.equal(command.code, "was_sealed");
      await people.sealed(command.receipts.ended);
      const beat = await silent.device.beat();
      assert.deepEqual(beat.body.commands, []);
      const next = await issued();
      assert.deepEqual((await received(1)).map(idOf), [next]);
      await state({ command_id: next, phase: "ended", status: "expired" });
      await silent.until(next, "expired");
    });

    it("names in public a script that ships, and none of one's own", async () => {
      const shipped = await issued();
      const superuser = asSuperuser(people.store);
      await superuser.execute("UPDATE scripts SET origin = 'user' WHERE name = 'uptime'");
      const own = await issued();
      await superuser.execute("UPDATE scripts SET origin = 'shipped' WHERE name = 'uptime'");
      const commands = await received(2);
      assert.deepEqual(commands.map(idOf), [shipped, own]);
      const details = commands.map(({ records }: { records: string[] }) =>
        JSON.parse(records[0]!).details
      );
      assert.deepEqual([details[0].script, details[1].script], ["uptime", undefined]);
      for (const command_id of [shipped, own]) {
        await state({ command_id, phase: "ended", status: "expired" });
        await silent.until(command_id, "expired");
      }
    });

    it("stays as it has begun, whatever copy of it was refused", async () => {
      const command_id = await issued();
      const refused = { command_id, phase: "ended", status: "refused", code: "not_included" };
      await state(refused);
      await silent.until(command_id, "refused");
      await state({ command_id, phase: "begun", status: "begun" });
      await silent.until(command_id, "begun");
      await state(refused);
      await silent.until(command_id, "begun");
      await state({ command_id, phase: "ended", status: "failed", exit_code: 3 });
      const { exit_code } = await silent.until(command_id, "failed");
      assert.equal(exit_code, 3);
      await state({ command_id, phase: "ended", status: "done", exit_code: 0 });
      await silent.until(command_id, "failed");
    });

    it("takes statements that its runner has signed, each once", async () => {
      const stranger = generateKeyPairSync("ed25519").privateKey;
      const begun = { phase: "begun", status: "begun" };
      assert.equal((await state(begun, stranger)).status, 403);
      const first = await state({ ...begun, sequence: 100 });
      const again = await state({ ...begun, sequence: 100 });
      assert.equal(first.status, 200, JSON.stringify(first.body));
      assert.deepEqual(again, first);
      const { details } = JSON.parse(first.body.record!);
      assert.match(details.commitments.statement, /^[0-9a-f]{64}$/);
    });

    it("takes no more once its device has stated something else under the same number", async () => {
      const other = await state({ phase: "ended", status: "unknown", sequence: 100 });
      assert.deepEqual([other.status, other.body.code], [409, "journal_rolled_back"]);
      const { status, body } = await silent.order({ script_id: "uptime" }, "ann");
      assert.equal(status, 409);
      assert.match(String(body.detail), /npm run devices -- release/);
    });
  });

  describe("where devices ask for their approvers' signatures", () => {
    const approver = generateKeyPairSync("ed25519");
    const key = rawKey(approver.publicKey);
    let guarded: Machine;
    before(async () => {
      const approvers = { signatures_required: 1, keys: [key] };
      const named = { version: 1, approvers, signatures: [] };
      await addApprovers(asSuperuser(people.store), named, "0123456789abcdef");
      guarded = await addMachine(people, approvers);
      guarded.start();
    });
    after(() => guarded?.stop());

    async function signatureFor(id: string, { privateKey, publicKey } = approver) {
      const { action } = (await people.call("GET", `/v1/approvals/${id}/info`, "ann")).body;
      const text = "sealoop-approval-v1\n" + canonicalize({
        action_sha256: hash("sha256", canonicalize(action)),
        approval_id: id,
        command_id: action.command_id,
        device_id: action.device_id,
      });
      const signature = sign(null, Buffer.from(text), privateKey).toString("hex");
      return { key: rawKey(publicKey), signature };
    }

    it("is refused where the tenant has too few approvers to sign it", async () => {
      const free = { command: ["id"], reason: "Look who runs it" };
      const { status, body } = await guarded.order(free, "bob");
      assert.equal(status, 409, JSON.stringify(body));
      assert.match(String(body.detail), /wants 2 approvers' signatures/);
    });

    it("runs where a person signs by the program, which shows what is signed", async () => {
      const folder = await testFolder();
      const [pem, keyFile] = [join(folder, "approver.pem"), join(folder, "ann.key")];
      writeFileSync(pem, approver.privateKey.export({ format: "pem", type: "pkcs8" }));
      const ann = { principal: "ann", mayApprove: true };
      writeFileSync(keyFile, (await giveKey(people.store, ann)).key, { mode: 0o600 });
      const { body } = await guarded.order({ script_id: "disk-usage" }, "bob");
      const file = await program("processes/commands/approvals.ts");
      const env = { PATH: process.env.PATH, SEALOOP_DATA: folder, SEALOOP_GATEWAY_URL: people.url };
      const run = (...words: string[]) =>
        promisify(execFile)(process.execPath, [file, ...words, "--key-file", keyFile], { env })
          .then(({ stdout }) => stdout, ({ stderr }) => String(stderr));
      const approve = (...more: string[]) => run("approve", body.approval_id!, ...more);
      assert.match(await approve(), /asks for its approvers' own signatures: .*--sign/);
      const other = join(folder, "other.pem");
      const { privateKey } = generateKeyPairSync("ed25519");
      writeFileSync(other, privateKey.export({ format: "pem", type: "pkcs8" }));
      const saved = join(folder, "shown.json");
      const told = await run("show", body.approval_id!, "--save", saved);
      assert.match(told, new RegExp(`"command_id": "${body.command_id}"`));
      assert.match(told, /"argv": \[\s*"df"/);
      const signature = async (path: string) => (await run("sign", saved, "--sign", path)).trim();
      assert.match(
        await approve("--signature", await signature(other)),
        /is no approver's key of this tenant/,
      );
      assert.match(await approve("--signature", await signature(pem)), /Approved/);
      await guarded.until(body.command_id, "done");
    });

    it("runs with a signature, and no vote counts without one", async () => {
      const { body } = await guarded.order({ script_id: "uptime" }, "bob");
      assert.equal(body.status, "waiting_approval", "even a person who may approve waits");
      const id = body.approval_id;
      const unsigned = await decide("approve", id);
      assert.equal(unsigned.status, 403);
      assert.match(unsigned.body.detail, /--sign/);
      const stranger = await signatureFor(id, generateKeyPairSync("ed25519"));
      assert.equal((await decide("approve", id, "ann", { signature: stranger })).status, 403);
      const other = { ...await signatureFor(id), signature: "ab".repeat(64) };
      assert.equal((await decide("approve", id, "ann", { signature: other })).status, 403);
      const signed = await decide("approve", id, "ann", { signature: await signatureFor(id) });
      assert.equal(signed.body.status, "approved", JSON.stringify(signed.body));
      await guarded.until(body.command_id, "done");
      const bundle = readFileSync(
        `${guarded.state}/runner/commands/${body.command_id}/bundle.json`,
        "utf8",
      );
      assert.equal(JSON.parse(bundle).bundle.approvals[0].key, key);
    });
  });
});
