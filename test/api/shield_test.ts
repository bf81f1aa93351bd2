import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readShieldPolicy } from "../../shield/mod.ts";
import { setPolicy } from "../../store/mod.ts";
import { report, rightNow, storeDevice } from "../shield/_stored_device.ts";
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
