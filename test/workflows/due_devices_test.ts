import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { computeBatchRoot } from "../../operations/devices/protocol/mod.ts";
import { getReceipt } from "../../ledger/mod.ts";
import { listen, type Listener, type Store } from "../../store/mod.ts";
import {
  addDevice,
  beginHeartbeat,
  findHeartbeatBatch,
  listPresence,
} from "../../store/devices/mod.ts";
import { program } from "../_programs.ts";
import { storeAs } from "../_servers.ts";
import { openLoop, type TestLoop } from "./_loop.ts";

const WEB = "DEV-00000000000a";
const DB = "DEV-00000000000b";

describe("the schedule of what is due, about devices", () => {
  let loop: TestLoop;
  let gateway: Store;
  let listener: Listener; // keeps a connection, as a running gateway does: by that it is known to be up
  let counter = 0;
  let runs = 0;
  before(async () => {
    loop = await openLoop();
    gateway = await storeAs(loop.store, "gateway");
    listener = await listen(gateway, ["sealoop_test"], { onNotify() {} });
    for (const [tenant, id] of [["acme", WEB], ["globex", DB]] as const) {
      await loop.store.asPlatform().query("SELECT ensure_tenant($1)", [tenant]);
      const key = id.slice(-1).repeat(64);
      await addDevice(gateway.asTenant(tenant), {
        id,
        name: `of-${tenant}`,
        platform: "linux",
        publicKey: key,
        runnerKey: key,
        receiptId: "0123456789abcdef",
        enrolment: {},
      });
      await beat(tenant, id);
    }
  });
  after(async () => {
    await listener?.close();
    await loop?.stop();
  });

  async function beat(tenant: string, deviceId: string): Promise<void> {
    const begun = await beginHeartbeat(gateway.asTenant(tenant), {
      deviceId,
      counter: ++counter,
      request: Buffer.from(String(counter)),
      holder: 1,
      logSize: 1,
      journal: { seq: 1, head: "" },
    });
    assert.ok(begun);
  }
  async function seen(deviceId: string): Promise<string> {
    const file = await program("processes/commands/devices.ts");
    const url = loop.database.urls.operator;
    const env = { PATH: process.env.PATH, SEALOOP_DATABASE_OPERATOR_URL: url };
    const run = promisify(execFile)(process.execPath, [file, "seen", deviceId], { env });
    return await run.then(({ stdout }) => stdout, ({ stderr }) => stderr);
  }
  const runSchedule = () =>
    loop.client.workflow.execute(WORKFLOW.tellDue, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `due-devices-${++runs}`,
      args: [],
    });
  const presence = async () => (await listPresence(loop.store.asTenant("acme"), WEB))[0]!.status;
  /** Lets time pass. */
  const age = (table: string, column: string, seconds: number) =>
    loop.database.executeAsSuperuser(
      `UPDATE ${table} SET ${column} = ${column} - interval '${seconds} seconds'`,
    );
  const told = async (kind: string) =>
    (await loop.store.asTenant("acme").query("SELECT subject FROM messages WHERE kind = $1", [
      kind,
    ]))
      .map(({ subject }) => subject);

  it("seals one root over the heartbeats of all tenants, and each can show its own", async () => {
    await runSchedule();
    await runSchedule();
    const [acme, globex] = [
      (await findHeartbeatBatch(loop.store.asTenant("acme"), WEB))!,
      (await findHeartbeatBatch(loop.store.asTenant("globex"), DB))!,
    ];
    assert.equal(acme.receiptId, globex.receiptId);
    await loop.sealer.sealed(acme.receiptId);
    const receipt = JSON.parse((await getReceipt(loop.store, acme.receiptId))!.text);
    assert.deepEqual(Object.keys(receipt.details).sort(), ["from", "root", "to"]);
    for (const batch of [acme, globex]) {
      const root = computeBatchRoot(batch)!;
      assert.equal(Buffer.from(root).toString("hex"), receipt.details.root);
    }
    const other = { ...acme, heartbeats: acme.heartbeats.replace(WEB, DB) };
    assert.notDeepEqual(computeBatchRoot(other), computeBatchRoot(acme));
    assert.equal(await findHeartbeatBatch(loop.store.asTenant("acme"), DB), undefined);
  });

  it("is shown for a device by the operator's command, unless what is stored was changed", async () => {
    const shown = await seen(WEB);
    assert.match(
      shown,
      new RegExp(`^Heartbeat 1 of ${WEB} was received at .*\nReceipt .* holds\n$`),
    );
    assert.match(await seen("DEV-00000000000c"), /There is no device/);
    await loop.database.executeAsSuperuser(
      "UPDATE heartbeat_batches SET heartbeats = replace(heartbeats, '\"counter\":1', '\"counter\":7')",
    );
    assert.match(await seen(WEB), /does not seal the stored heartbeats/);
  });

  it("finds no device offline for the time in which no gateway was at work", async () => {
    await age("device_states", "last_seen_at", 3_600);
    await loop.database.executeAsSuperuser("DELETE FROM gateway_watch");
    await runSchedule(); // the first look at the gateway
    assert.equal(await presence(), "online");
    await age("gateway_watch", "looked_at", 600);
    await age("gateway_watch", "up_since", 600);
    await runSchedule(); // nobody has looked for ten minutes
    assert.equal(await presence(), "online");
  });

  it("finds a device late after one heartbeat that is missing, offline after three, and tells it once", async () => {
    await age("gateway_watch", "up_since", 100);
    assert.equal(await presence(), "late");
    await runSchedule();
    assert.deepEqual(await told("device.offline"), []);
    await age("gateway_watch", "up_since", 200);
    await runSchedule();
    await runSchedule();
    assert.equal(await presence(), "offline");
    assert.deepEqual(await told("device.offline"), [`of-acme (${WEB}) is offline`]);
  });

  it("takes a device for online again after two heartbeats", async () => {
    await beat("acme", WEB);
    assert.equal(await presence(), "offline");
    await beat("acme", WEB);
    assert.equal(await presence(), "online");
  });
});
