import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readMesh, readShieldPolicy } from "../../judgement/shield/mod.ts";
import type { Db } from "../../store/mod.ts";
import { setPolicy } from "../../store/calls/mod.ts";
import { report, rightNow, storeDevice } from "../judgement/shield/_stored_device.ts";
import { asSuperuser } from "../_superuser.ts";
import type { Json } from "../mcp/_tool_server.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

const RULES = "chain input { type filter hook input priority filter; policy accept; }";
const POLICY = `
without: [agent-unchanged]
firewall: { acme: "${RULES}" }
policies: [{ id: own-check, title: Own, severity: low, check: { uid_0: [root, admin] } }]
`;
const FIREWALL = {
  backend: "nft",
  observed_sha256: "b".repeat(64),
  drift: false,
  applied_sha256: hash("sha256", RULES),
};

describe("the shield's operations", () => {
  let gateway: TestGateway;
  let key: string;
  let right: string;
  let wrong: string;
  before(async () => {
    gateway = await startGateway();
    const { store } = gateway.platform;
    const superuser = asSuperuser({ url: store.url, tenant: "acme" });
    right = await storeDevice(superuser, { firewall: FIREWALL });
    wrong = await storeDevice(superuser, {
      inventory: { posture: { ...rightNow().posture, disk_encrypted: false, uid_0: null } },
    });
    key = await gateway.key({ tenant: "acme" });
  });
  after(() => gateway?.stop());

  async function read(path: string, apiKey?: string) {
    const headers: Record<string, string> = apiKey ? { "x-api-key": apiKey } : {};
    const response = await fetch(`${gateway.url}/v1/shield/${path}`, { headers });
    return { status: response.status, body: await response.json() as Json };
  }

  it("list the policies that ship, and then those of a file", async () => {
    assert.equal((await read("policies")).status, 401);
    const { body: shipped } = await read("policies", key);
    assert.equal(shipped.version, 0);
    assert.match(shipped.sha256, /^[0-9a-f]{64}$/);
    const superuser = asSuperuser(gateway.platform.store);
    await setPolicy(superuser, "shield_policies", { ...readShieldPolicy(POLICY) });
    const { body: own } = await read("policies", key);
    assert.equal(own.version, 1);
    assert.notEqual(own.sha256, shipped.sha256);
    const ids = own.policies.map(({ id }: { id: string }) => id);
    assert.ok(ids.includes("own-check") && !ids.includes("agent-unchanged"));
  });

  it("count checks, and unknown ones as not passed", async () => {
    const { body } = await read("compliance", key);
    assert.equal(body.status, "internal_assessment");
    const by = Object.fromEntries(
      body.policies.map(({ id, ...counts }: { id: string }) => [id, counts]),
    );
    assert.deepEqual(by["disk-encryption"], { passed: 1, failed: 1, unknown: 0 });
    assert.deepEqual(by["own-check"], { passed: 1, failed: 0, unknown: 1 });
    assert.deepEqual(by["firewall-desired"], { passed: 1, failed: 0, unknown: 1 });
    const sum = (name: string) =>
      body.policies.reduce((all: number, one: Record<string, number>) => all + one[name]!, 0);
    assert.equal(body.score, sum("passed"));
    assert.equal(body.max, sum("passed") + sum("failed") + sum("unknown"));
  });

  it("tell others nothing of a tenant's devices, and nobody without a key of own policies", async () => {
    for (const other of [undefined, await gateway.key({ tenant: "other" })]) {
      const { body } = await read("compliance", other);
      assert.deepEqual([body.score, body.max], [0, 0]);
      const ids = body.policies.map(({ id }: { id: string }) => id);
      assert.equal(ids.includes("own-check"), other !== undefined);
      assert.ok(ids.includes("root-accounts"));
    }
  });

  it("compare firewalls with the rules that the tenant's devices are to have", async () => {
    const { body } = await read("firewall/rules", key);
    assert.deepEqual([body.desired_version, body.desired], [1, RULES]);
    const drift = () =>
      Object.fromEntries(
        body.devices.map(({ device_id, drift }: Record<string, unknown>) => [device_id, drift]),
      );
    assert.deepEqual(drift(), { [right]: false, [wrong]: null });
    const { body: others } = await read("firewall/rules", await gateway.key());
    assert.deepEqual(others, { desired_version: 1, desired: null, devices: [] });
    const superuser = asSuperuser({ url: gateway.platform.store.url, tenant: "acme" });
    await report(superuser, right, { firewall: { ...FIREWALL, drift: true } });
    const { body: drifted } = await read("firewall/rules", key);
    assert.equal(
      drifted.devices.find(({ device_id }: Record<string, unknown>) => device_id === right).drift,
      true,
    );
  });
});

describe("the views of devices", () => {
  let gateway: TestGateway;
  let key: string;
  let ids: readonly string[];
  before(async () => {
    gateway = await startGateway();
    key = await gateway.key({ tenant: "acme" });
    const superuser = asSuperuser({ url: gateway.platform.store.url, tenant: "acme" });
    ids = await Promise.all(
      ["10.1.2.3", "10.1.2.4"].map((address) =>
        storeDevice(superuser, {
          inventory: { interfaces: [{ name: "eth0", addresses: ["127.0.0.1", address] }] },
        })
      ),
    );
    const peers = [
      { target: "10.1.2.4:22", reachable: true, microseconds: 240 },
      { target: "10.1.2.3:22", reachable: true, microseconds: 9 }, // itself
      { target: "10.9.9.9:22", reachable: false, microseconds: null }, // nobody's
    ];
    await measured(superuser, ids[0]!, JSON.stringify({ peers }));
    await measured(superuser, ids[1]!, "\\xff not JSON");
  });
  after(() => gateway?.stop());

  async function measured(superuser: Db, device: string, output: string): Promise<void> {
    const id = `CMD-${device.slice(4)}`;
    await superuser.execute(
      `INSERT INTO device_commands (tenant_id, id, device_id, argv, account, timeout_seconds, output_bytes, read_only,
         script, script_id, expires_at, description, requested_by, needed, grounds, status, ended_at, output)
       VALUES ('acme', $1, $2, '[]', 'agent', 60, 1000, true, '{"id":"mesh-reach","version":1}', 'mesh-reach', now(), '', 'ann', 0,
         '{}', 'done', now(), $3)`,
      [id, device, Buffer.from(output)],
    );
  }

  async function read(path: string, apiKey?: string): Promise<Json> {
    const headers: Record<string, string> = apiKey ? { "x-api-key": apiKey } : {};
    return await (await fetch(`${gateway.url}/v1/${path}`, { headers })).json();
  }

  it("count devices, checks and commands, each tenant its own", async () => {
    const stats = await read("shield/stats", key);
    assert.deepEqual(stats.devices, { total: 2, online: 0, offline: 2, quarantined: 0 });
    assert.equal(stats.commands_24h, 2);
    assert.equal(stats.last_batch_receipt, null);
    assert.ok(stats.checks.unknown > 0);
    const others = await read("shield/stats");
    assert.deepEqual(others.checks, { passed: 0, failed: 0, unknown: 0 });
    assert.equal(others.commands_24h, 0);
  });

  it("show the ways between devices that agents have measured, and no others", async () => {
    const { peers, links, reachable, p50_ms, status } = await read("integrations/mesh/stats", key);
    assert.deepEqual({ peers, links, reachable, p50_ms, status }, {
      peers: 2,
      links: 1,
      reachable: 1,
      p50_ms: 0.24,
      status: "ok",
    });
    assert.equal((await read("integrations/mesh/stats")).peers, 0);
    const mesh = await readMesh(gateway.platform.store.asTenant("acme"));
    assert.deepEqual(mesh.links.map(({ from, to }) => [from, to]), [[ids[0], ids[1]]]);
    assert.deepEqual(mesh.peers.map(({ addresses }) => addresses.length), [1, 1]);
  });
});
