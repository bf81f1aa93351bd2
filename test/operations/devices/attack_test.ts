import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { getDevice } from "../../../store/devices/mod.ts";
import {
  type DevicePlatform,
  type DeviceRequest,
  startDevicePlatform,
  type TestDevice,
} from "./protocol/_devices.ts";

/** Returns the base64 digit after one; the bytes that end there stay the same. */
const nextDigit = (digit: string) => ({ A: "B", Q: "R", g: "h", w: "x" })[digit]!;
const HEARTBEAT = "/v1/shield/devices/heartbeat";

describe("an attacker who holds one device of a tenant", () => {
  let platform: DevicePlatform;
  let own: TestDevice;
  let victim: TestDevice;
  before(async () => {
    const settings = { SEALOOP_LIMIT_UNKNOWN_KEYS: "1000", SEALOOP_LIMIT_HEARTBEATS: "1000" };
    platform = await startDevicePlatform(settings);
    victim = await platform.addDevice("other");
    assert.equal((await victim.beat()).status, 200);
  });
  beforeEach(async () => void (own = await platform.addDevice("acme")));
  after(() => platform?.stop());

  async function post({ body, headers }: DeviceRequest, path = HEARTBEAT): Promise<number> {
    const answer = await fetch(platform.url + path, { method: "POST", headers, body });
    await answer.arrayBuffer();
    return answer.status;
  }
  const change = (request: DeviceRequest, name: string, edit: (value: string) => string) => ({
    ...request,
    headers: { ...request.headers, [name]: edit(request.headers[name]!) },
  });
  const statusOf = async ({ id, tenant }: TestDevice) =>
    (await getDevice(platform.platform.store.asTenant(tenant), id))!.status;

  const FORGERIES: Readonly<Record<string, (request: DeviceRequest) => DeviceRequest>> = {
    "in another device's name": (request) =>
      change(request, "signature-input", (input) => input.replace(own.id, victim.id)),
    "with another body": ({ body, headers }) => ({ body: `${body} `, headers }),
    "with two digests": (request) =>
      change(request, "content-digest", (digest) => `${digest}, ${digest}`),
    "with two signatures": (request) =>
      change(request, "signature", (value) => `${value}, ${value.replace("sealoop", "other")}`),
    "with fewer signed parts": (request) =>
      change(request, "signature-input", (input) => input.replace(' "content-digest"', "")),
    "with another algorithm": (request) =>
      change(request, "signature-input", (input) => input.replace("ed25519", "hmac-sha256")),
    "with a signature that is not canonical base64": (request) =>
      change(request, "signature", (value) => value.replace(/.(?===:$)/, nextDigit)),
    "with random bytes as its signature": (request) =>
      change(request, "signature", () => `sealoop=:${randomBytes(64).toString("base64")}:`),
  };
  for (const [name, forge] of Object.entries(FORGERIES)) {
    it(`sends a heartbeat ${name} in vain`, async () => {
      assert.equal(await post(forge(own.heartbeat())), 401);
      assert.equal((await own.beat()).status, 200);
      assert.equal((await victim.beat()).status, 200);
    });
  }

  it("takes a heartbeat to no other path, and an API key to none", async () => {
    const request = own.heartbeat();
    assert.equal(await post(request, `${HEARTBEAT}/`), 401);
    assert.notEqual(await post(request, `/v1/shield/devices/${own.id}/seal`), 200);
    const key = await platform.key({ tenant: "other", tier: "admin" });
    const unsigned = { body: request.body, headers: { "content-type": "application/json" } };
    assert.equal(
      await post({ ...unsigned, headers: { ...unsigned.headers, "x-api-key": key } }),
      401,
    );
    assert.equal(await statusOf(victim), "active");
  });

  it("quarantines its own device alone by using a counter twice", async () => {
    own.counter = victim.counter;
    assert.equal((await own.beat()).status, 200);
    own.counter--;
    assert.equal((await own.beat({ wait_seconds: 1 })).body.code, "counter_cloned");
    assert.deepEqual([await statusOf(own), await statusOf(victim)], ["quarantined", "active"]);
  });

  const BAD_FIELDS: Readonly<Record<string, readonly [string, string]>> = {
    "a counter of 2^53": ["counter", "9007199254740992"],
    "a counter of 1e400": ["counter", "1e400"],
    "a counter of 1.5": ["counter", "1.5"],
    "a counter below 0": ["counter", "-1"],
    "a counter as text": ["counter", '"1"'],
    "a journal of NaN": ["journal", '{"seq":NaN,"head":""}'],
    "a journal of 2^53": ["journal", '{"seq":9007199254740992,"head":""}'],
    "a journal below 0": ["journal", '{"seq":-1,"head":""}'],
    "a section that is no number": ["delta", '{"os":1e400}'],
    "a section with U+0000": ["delta", '{"os":"\\u0000"}'],
    "a section with half a character": ["delta", '{"os":"\\ud800"}'],
    "a section named __proto__": ["delta", '{"__proto__":{}}'],
    "a section twice": ["delta", '{"os":1,"os":2}'],
    "a section of 70 levels": ["delta", `{"os":${"[".repeat(70)}${"]".repeat(70)}}`],
    "a section of 100,000 levels": ["delta", `{"os":${"[".repeat(1e5)}${"]".repeat(1e5)}}`],
    "an acknowledgement of nothing": ["acks", '[{"result":"known"}]'],
  };
  for (const [name, [field, value]] of Object.entries(BAD_FIELDS)) {
    it(`has a heartbeat refused with ${name}, and its counter is not used`, async () => {
      const { body } = own.heartbeat({ [field]: "HERE" });
      const text = body.replace('"HERE"', value);
      assert.equal(await post({ body: text, headers: own.sign(HEARTBEAT, text) }), 422);
      own.counter--;
      assert.equal((await own.beat()).status, 200);
    });
  }

  it("sends neither too large nor compressed bodies", async () => {
    assert.equal(await post(own.heartbeat({ delta: { os: "x".repeat(1024 * 1024) } })), 413);
    const bomb = gzipSync(Buffer.alloc(50_000_000, 32));
    const headers = { ...own.sign(HEARTBEAT, "{}"), "content-encoding": "gzip" };
    const answer = await fetch(platform.url + HEARTBEAT, { method: "POST", headers, body: bomb });
    assert.equal(answer.status, 415);
  });

  it("keeps nobody waiting by sending bodies slowly, at any of its routes", async () => {
    const { port } = new URL(platform.url);
    const paths = [HEARTBEAT, `/v1/shield/devices/${own.id}/seal`, "/v1/devices/enroll"];
    const sockets = Array.from({ length: 90 }, (_, n) => {
      const { headers } = own.heartbeat();
      const fields = Object.entries({ ...headers, "content-length": "100000" });
      const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
      const head = [
        `POST ${paths[n % paths.length]} HTTP/1.1`,
        "host: 127.0.0.1",
        ...fields.map(([name, value]) => `${name}: ${value}`),
      ];
      socket.write(`${head.join("\r\n")}\r\n\r\n{"counter":`);
      return socket;
    });
    const timer = setInterval(() => sockets.forEach((socket) => socket.write(" ")), 50);
    try {
      await new Promise((resolve) => setTimeout(resolve, 500));
      for (let n = 0; n < 5; n++) assert.equal((await victim.beat()).status, 200);
      assert.ok(sockets.some(({ closed }) => !closed), "it did not wait for their end");
    } finally {
      clearInterval(timer);
      sockets.forEach((socket) => socket.destroy());
    }
    assert.equal((await own.beat()).status, 200, "no counter was used");
  });

  it("does not fill the database by sections of ever other names", async () => {
    for (let n = 0; n < 4; n++) {
      const names = Array.from({ length: 25 }, (_, at) => `s${n}_${at}`);
      const delta = Object.fromEntries(names.map((name) => [name, "x".repeat(30_000)]));
      const { status } = await own.beat({ delta, inventory_sha256: "a".repeat(64) });
      assert.equal(status, 200);
      const row = await platform.platform.store.asTenant("acme").first(
        "SELECT count(*)::int AS sections FROM device_inventories WHERE device_id = $1",
        [own.id],
      );
      assert.ok(row!.sections <= 40, `${row!.sections} sections`);
    }
  });

  it("makes the gateway log no error", () => {
    assert.doesNotMatch(platform.log(), /"level":"error"/);
  });
});
