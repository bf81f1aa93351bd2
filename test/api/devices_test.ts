import assert from "node:assert/strict";
import { report, storeDevice } from "../judgement/shield/_stored_device.ts";
import { asSuperuser } from "../_superuser.ts";
import { eventually } from "../_time.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

const DISKS = [{ device: "/dev/vda1", mount: "/", size_bytes: 1_000, free_bytes: 50 }];
const INTERFACES = [{ name: "eth0", addresses: ["192.0.2.10"] }];
const OS = { id: "debian", version: "12", name: "Debian 12", support_end: null };

describe("what is known of devices", () => {
  let gateway: TestGateway;
  let key: string;
  let web: string;
  let silent: string;
  before(async () => {
    gateway = await startGateway();
    const superuser = asSuperuser({ url: gateway.platform.store.url, tenant: "acme" });
    web = await storeDevice(superuser);
    silent = await storeDevice(superuser, { inventory: {} });
    const inventory = { os: OS, disks: DISKS, interfaces: INTERFACES };
    await report(superuser, web, { inventory });
    await superuser.execute(
      "UPDATE device_states SET online_since = now() WHERE device_id = $1",
      [web],
    );
    await superuser.execute("DELETE FROM device_states WHERE device_id = $1", [silent]);
    await superuser.execute(
      `INSERT INTO services (tenant_id, name, type, host, origin)
       VALUES ('acme', 'shop', 'web', '192.0.2.10', 'file'), ('acme', 'other', 'web', '192.0.2.11', 'file')`,
    );
    key = await gateway.key({ tenant: "acme" });
  });
  after(() => gateway?.stop());

  const read = (path: string, own = key) => gateway.call(own, "GET", path);
  const readStatus = () =>
    eventually(async () => {
      const answer = await read("/v1/status/fresh");
      const isSlow = /^no answer within/.test(answer.body.backends.devices.error);
      return isSlow ? undefined : answer; // as on a busy machine
    });

  it("is listed with posture, status and the newest heartbeat", async () => {
    const { body } = await read("/v1/shield/devices");
    assert.equal(body.total, 2);
    const byId = new Map<string, Record<string, unknown>>(
      body.devices.map((one: { device_id: string }) => [one.device_id, one]),
    );
    const { status, os, tenant_id, posture, last_seen_at } = byId.get(web)!;
    assert.deepEqual([status, os, tenant_id], ["online", "Debian 12", "acme"]);
    assert.ok((posture as { passed: number }).passed > 0);
    assert.ok(last_seen_at);
    assert.deepEqual([byId.get(silent)!.status, byId.get(silent)!.last_seen_at], ["offline", null]);
    assert.equal((await read("/v1/shield/devices?limit=1")).body.devices.length, 1);
  });

  it("is shown to its own tenant, and to others with a key of tier admin alone", async () => {
    const rival = await gateway.key({ tenant: "rival" });
    const admin = await gateway.key({ tenant: "platform", tier: "admin" });
    assert.equal((await read("/v1/shield/devices", rival)).body.total, 0);
    assert.equal((await read("/v1/shield/devices?tenant_id=acme", rival)).status, 403);
    assert.equal((await read("/v1/shield/devices?tenant_id=nobody", rival)).status, 403);
    assert.equal((await read("/v1/shield/devices?internal=true", rival)).status, 403);
    assert.equal((await read("/v1/shield/devices?internal=true", admin)).body.total, 0);
    assert.equal((await read("/v1/shield/devices?tenant_id=acme", admin)).body.total, 2);
    assert.equal((await read(`/v1/devices/${web}/resources`, rival)).status, 404);
    assert.equal((await read(`/v1/devices/${web}/resources`, admin)).status, 200);
  });

  it("is listed by organization, which nobody else can tell from one that is not there", async () => {
    const rival = await gateway.key({ tenant: "rival" });
    const admin = await gateway.key({ tenant: "platform", tier: "admin" });
    const own = (await read("/v1/tenants/acme/devices")).body;
    assert.deepEqual([own.org_id, own.total], ["acme", 2]);
    assert.equal((await read("/v1/tenants/acme/devices", admin)).body.total, 2);
    const [foreign, none] = [
      await read("/v1/tenants/acme/devices", rival),
      await read("/v1/tenants/nobody/devices", rival),
    ];
    assert.deepEqual([foreign.status, none.status], [404, 404]);
    assert.equal(foreign.body.detail.replace("acme", "nobody"), none.body.detail);
  });

  it("is counted, of the operator alone without a key", async () => {
    const { body } = await read("/v1/shield/stats");
    assert.deepEqual(body.devices, { total: 2, online: 1, offline: 1, quarantined: 0 });
    assert.ok(body.checks.passed > 0 && body.checks.unknown > 0);
    assert.deepEqual([body.commands_24h, body.last_batch_receipt], [0, null]);
    const anonymous = await fetch(`${gateway.url}/v1/shield/stats`);
    assert.equal((await anonymous.json() as { devices: { total: number } }).devices.total, 0);
  });

  it("has resources as the device says, stale where it is not online", async () => {
    const { body } = await read(`/v1/devices/${web}/resources`);
    assert.equal(body.stale, false);
    assert.deepEqual([body.os, body.disks, body.cpu], [OS, DISKS, null]);
    const { body: nothing } = await read(`/v1/devices/${silent}/resources`);
    assert.deepEqual([nothing.stale, nothing.observed_at, nothing.os], [true, null, null]);
    assert.equal((await read("/v1/devices/DEV-000000000000/resources")).status, 404);
  });

  it("spoils no figures by disks whose sizes are no numbers", async () => {
    const superuser = asSuperuser({ url: gateway.platform.store.url, tenant: "acme" });
    const disks = [{ size_bytes: 1_000, free_bytes: "none" }, {
      size_bytes: [1_000],
      free_bytes: {},
    }];
    await report(superuser, silent, { inventory: { disks } });
    await superuser.execute("DELETE FROM device_states WHERE device_id = $1", [silent]);
    const { status, body } = await readStatus();
    assert.equal(status, 200);
    assert.equal(
      body.backends.devices.detail?.low_on_disk,
      1,
      JSON.stringify(body.backends.devices),
    );
  });

  it("stands in the status and in the service graph", async () => {
    const { devices } = (await readStatus()).body.backends;
    assert.equal(devices.ok, true);
    assert.deepEqual(devices.detail.by_status, { online: 1, late: 0, offline: 1, quarantined: 0 });
    assert.equal(devices.detail.low_on_disk, 1);
    const { body } = await read("/v1/knowledge-graph/cmdb/query?q=192.0.2.10");
    assert.deepEqual(body.devices, [{
      device_id: web,
      name: "web-1",
      platform: "linux",
      status: "online",
      addresses: ["192.0.2.10"],
      services: ["shop"],
    }]);
    const typed = await read("/v1/knowledge-graph/cmdb/query?service_type=device&status=offline");
    assert.deepEqual(typed.body.devices.map((one: { device_id: string }) => one.device_id), [
      silent,
    ]);
    assert.equal((await read("/v1/knowledge-graph/cmdb/status")).body.devices, 2);
    const anonymous = await fetch(`${gateway.url}/v1/knowledge-graph/cmdb/query?q=web`);
    assert.deepEqual((await anonymous.json() as { devices: unknown[] }).devices, []);
  });
});
