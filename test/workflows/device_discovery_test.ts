import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { DISCOVERY_PORTS, type DiscoveryResult } from "../../contract/domain/mod.ts";
import { findReceipt } from "../../ledger/mod.ts";
import { registry } from "../../operations/mod.ts";
import type { Json } from "../mcp/_tool_server.ts";
import { report, storeDevice } from "../judgement/shield/_stored_device.ts";
import { asSuperuser } from "../_superuser.ts";
import { openLoop, type TestLoop } from "./_loop.ts";

const DISCOVER = registry.get("devices.discover")!;

describe("deviceDiscovery", () => {
  let loop: TestLoop;
  let server: Server;
  let port: number;
  before(async () => {
    loop = await openLoop({ settings: { SEALOOP_DISCOVERY_ALLOW: "127.0.0.0/8,192.0.2.0/30" } });
    server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  });
  after(async () => {
    server?.close();
    await loop?.stop();
  });

  function discover(input: object, tenant?: string): Promise<Json> {
    const parsed = DISCOVER.input.parse(input);
    const context = {
      config: loop.config,
      store: tenant ? loop.store.forTenant(tenant) : loop.store,
      temporal: () => Promise.resolve(loop.client),
      caller: { keyId: "k" },
      urls: { gateway: "http://127.0.0.1" },
      door: "rest",
      signal: new AbortController().signal,
      ending: new AbortController().signal,
      progress() {},
    };
    return DISCOVER.run(parsed, context as never);
  }

  it("finds a host, and seals figures alone", async () => {
    const superuser = asSuperuser({ url: loop.store.url });
    const device = await storeDevice(superuser);
    const interfaces = [{ name: "eth0", addresses: ["192.0.2.1", "fe80::1"] }];
    await report(superuser, device, { inventory: { interfaces } });
    const targets = ["127.0.0.1", "8.8.8.8"];
    const answer = await discover({ targets, ports: [port, 1], wait_seconds: 30 });
    const result: DiscoveryResult = await loop.client.workflow.getHandle(answer.workflow_id)
      .result();
    if (answer.status !== "RUNNING") assert.deepEqual(answer.result, result);
    const { hosts, scanned, refused, receipt_id } = result;
    assert.deepEqual(hosts, [{ address: "127.0.0.1", ports: [port], device_id: null }]);
    assert.deepEqual([scanned, refused], [1, 1]);
    await loop.sealer.sealed(receipt_id);
    const { text } = await findReceipt(loop.store, receipt_id);
    const { details } = JSON.parse(text);
    assert.deepEqual([details.scanned, details.refused, details.hosts], [1, 1, 1]);
    assert.doesNotMatch(text, /127\.0\.0\.1|8\.8\.8\.8/);
  });

  it("does not look where it may not, or for other tenants from here", async () => {
    await assert.rejects(discover({ targets: ["10.0.0.1"] }), { name: "Forbidden" });
    await assert.rejects(discover({ targets: ["127.0.0.1"] }, "acme"), { name: "Forbidden" });
    await assert.rejects(discover({ targets: ["127.0.0.0/8"] }), { name: "InvalidInput" });
    assert.throws(() => DISCOVER.input.parse({ targets: ["localhost"] }));
    assert.deepEqual(DISCOVER.input.parse({ targets: ["::1"] }).ports, [...DISCOVERY_PORTS]);
  });
});
