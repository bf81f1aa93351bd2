import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import {
  addDevice,
  findDevice,
  getDevice,
  listDevices,
  quarantineDevice,
  releaseDevice,
} from "../../store/devices/mod.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

/** An operation that a device signs. */
const echo = operation({
  name: "test.echo",
  summary: "Return who calls",
  group: "test",
  effect: "write",
  access: "device",
  input: z.object({ counter: z.number() }),
  output: z.object({ principal: z.string(), tenant: z.string(), counter: z.number() }),
  rest: { test_echo: "POST /v1/test/echo" },
  governance: { rule: "key-decides", limits: { counted: false }, signedByDevice: true },
  durability: { sealsItself: true },
  example: { input: { counter: 1 }, output: { principal: "", tenant: "", counter: 1 } },
  run: ({ counter }, { caller: { principal, tenant } }) =>
    Promise.resolve({ principal, tenant, counter }),
});

describe("a request that a device signs", () => {
  let gateway: TestGateway;
  let id: string;
  let privateKey: KeyObject;
  before(async () => {
    gateway = await startGateway({ extra: [echo], settings: { SEALOOP_LIMIT_UNKNOWN_KEYS: "5" } });
    const pair = generateKeyPairSync("ed25519");
    privateKey = pair.privateKey;
    const raw = pair.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    id = `DEV-${createHash("sha256").update(raw).digest("hex").slice(0, 12)}`;
    await gateway.key({ tenant: "acme" }); // makes the tenant
    const added = await addDevice(gateway.platform.store.asTenant("acme"), {
      id,
      name: "web-1",
      platform: "linux",
      publicKey: raw.toString("hex"),
      runnerKey: raw.toString("hex"),
      receiptId: "0123456789abcdef",
      enrolment: {},
    });
    assert.ok(added);
  });
  after(() => gateway?.stop());

  function headersOf(body: string, { signer = privateKey, device = id } = {}) {
    const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
    const input = '("@method" "@path" "@query" "content-digest")' +
      `;nonce="${"0".repeat(32)}";keyid="${device}";alg="ed25519";tag="sealoop-device"`;
    const base = `"@method": POST\n"@path": /v1/test/echo\n"@query": ?\n` +
      `"content-digest": ${digest}\n"@signature-params": ${input}`;
    return {
      "content-type": "application/json",
      "content-digest": digest,
      "signature-input": `sealoop=${input}`,
      signature: `sealoop=:${sign(null, Buffer.from(base), signer).toString("base64")}:`,
    };
  }
  const send = (body: string, headers: Record<string, string>) =>
    fetch(`${gateway.url}/v1/test/echo`, { method: "POST", headers, body });

  it("is its call, in the name of its tenant, without a governance decision or a receipt", async () => {
    const body = '{"counter": 7}';
    const answer = await send(body, headersOf(body));
    assert.deepEqual(await answer.json(), { principal: id, tenant: "acme", counter: 7 });
    assert.equal(answer.headers.get("x-governance-decision-id"), null);
    assert.equal(answer.headers.get("x-receipt-id"), null);
    assert.match(gateway.log(), new RegExp(`"key_id":"${id}"`));
  });

  it("has no dry run, as nobody decides about it", async () => {
    const body = '{"counter": 7}';
    const answer = await send(body, { ...headersOf(body), "x-dry-run": "true" });
    assert.equal(answer.status, 422);
  });

  it("is refused with another body, another key, another device, or an API key instead", async () => {
    const body = '{"counter": 7}';
    const other = generateKeyPairSync("ed25519").privateKey;
    const key = await gateway.key();
    const refused = [
      await send('{"counter": 8}', headersOf(body)),
      await send(body, headersOf(body, { signer: other })),
      await send(body, headersOf(body, { device: "DEV-000000000000" })),
      await send(body, { "content-type": "application/json", "x-api-key": key }),
    ];
    assert.deepEqual(refused.map(({ status }) => status), [401, 401, 401, 401]);
    const last = await refused.at(-1)!.json() as { detail: string };
    assert.match(last.detail, /signed by a device/);
  });

  it("counts as a wrong key where it is wrong, and a right one is never refused for that", async () => {
    const body = '{"counter": 7}';
    const wrong = headersOf(body, { device: "DEV-000000000000" });
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++) statuses.push((await send(body, wrong)).status); // 5 in each of two minutes
    assert.ok(statuses.includes(429), statuses.join());
    assert.equal((await send(body, headersOf(body))).status, 200);
  });

  it("is taken from a quarantined device, whose record says why until it is released", async () => {
    const db = gateway.platform.store.asTenant("acme");
    assert.ok(await quarantineDevice(db, id, "cloned"));
    assert.equal(await quarantineDevice(db, id, "again"), false);
    const body = '{"counter": 7}';
    assert.equal((await send(body, headersOf(body))).status, 200);
    assert.equal((await findDevice(db, id))!.quarantine, "cloned");
    assert.ok(await releaseDevice(db, id));
    assert.equal((await findDevice(db, id))!.status, "active");
  });

  it("finds no device of another tenant but by its id, for its signature alone", async () => {
    const other = gateway.platform.store.asTenant("other");
    assert.deepEqual(await listDevices(other), []);
    assert.equal(await getDevice(other, id), undefined);
    assert.equal((await findDevice(other, id))!.tenant, "acme");
  });
});
