import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import { getReceipt } from "../../../ledger/mod.ts";
import { getDevice, listDevices } from "../../../store/devices/mod.ts";
import { testFolder } from "../../_run.ts";
import { type DeviceGateway, install, type Installed, startDeviceGateway } from "./_platform.ts";

const readJson = ({ folder }: Installed, ...path: string[]) =>
  JSON.parse(readFileSync(join(folder, "state", ...path), "utf8"));

describe("a machine that enrols", function () {
  let gateway: DeviceGateway;
  let token: string;
  before(async () => {
    gateway = await startDeviceGateway({ SEALOOP_LIMIT_UNKNOWN_KEYS: "1000" });
    token = await gateway.token("acme");
  });
  after(() => gateway?.stop());

  const devices = () => listDevices(gateway.platform.store.asTenant("acme"));
  const codeOf = (script: string) => /CODE'\n(\S+)\nCODE/.exec(script)![1]!;
  const post = async (body: unknown) => {
    const answer = await fetch(`${gateway.url}/v1/devices/enroll`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.json() as Record<string, unknown> };
  };

  it("is a device of the token's organization, with what the platform's ledger uses pinned", async () => {
    const installed = await install(await gateway.script(token));
    assert.equal(installed.code, 0, installed.output);
    const id = /This machine is the device (DEV-[0-9a-f]{12}) of acme/.exec(installed.output)![1]!;
    const device = (await getDevice(gateway.platform.store.asTenant("acme"), id))!;
    assert.equal(device.status, "active");
    assert.equal(device.runnerKey.length, 64);
    const { receiptId } = device;
    await gateway.platform.sealer.sealed(receiptId);
    const receipt = JSON.parse((await getReceipt(gateway.platform.store, receiptId))!.text);
    assert.equal(receipt.category, "device_enrolled");
    assert.equal(receipt.subject, id);
    assert.equal(receipt.details.runner_key, device.runnerKey);
    assert.doesNotMatch(JSON.stringify(receipt), /acme/, "the ledger is public");
    const trust = readJson(installed, "runner", "trust.json");
    assert.match(trust.log_key, /^sealoop\.localhost\+/);
    assert.match(trust.ledger_keys[0].recovery_key, /^[0-9a-f]{64}$/);
  });

  it("gets the agent whose hash is sealed, the same for everybody", async () => {
    const agent = readFileSync(join(ROOT, "dist", "agent", "sealoop_agent.py"));
    const answer = await fetch(`${gateway.url}/v1/devices/agent/download`);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), agent);
    assert.equal(answer.headers.get("x-agent-sha256"), hash("sha256", agent));
    const id = answer.headers.get("x-receipt-id")!;
    await gateway.platform.sealer.sealed(id);
    const receipt = JSON.parse((await getReceipt(gateway.platform.store, id))!.text);
    assert.deepEqual([receipt.category, receipt.details.sha256], [
      "agent_release",
      hash("sha256", agent),
    ]);
    const again = await fetch(`${gateway.url}/v1/devices/agent/download`);
    assert.equal(again.headers.get("x-receipt-id"), id);
  });

  it("is refused with a code that another machine has used, and with a forged one", async () => {
    const script = await gateway.script(token);
    assert.equal((await install(script)).code, 0);
    const count = (await devices()).length;
    const second = await install(script);
    assert.equal(second.code, 1);
    assert.match(second.output, /status 403.*another machine has used the code/);
    const code = codeOf(await gateway.script(token));
    const forged = code.replace(/\.(\d{10})\./, (_, expiry) => `.${Number(expiry) + 900}.`);
    const third = await install(
      (await gateway.script(token)).replace(/(CODE'\n)\S+/, `$1${forged}`),
    );
    assert.match(third.output, /none of this platform's/);
    assert.equal((await devices()).length, count);
  });

  it("is refused once the token was replaced, and so is who fetches the script with the old one", async () => {
    const old = await gateway.token("other");
    const script = await gateway.script(old);
    const replaced = await gateway.token("other");
    assert.match((await install(script)).output, /token has been replaced/);
    await assert.rejects(gateway.script(old), /was replaced/);
    assert.equal((await install(await gateway.script(replaced))).code, 0);
  });

  it("gets the same answer again with the same keys and code, and is one device", async () => {
    const script = await gateway.script(token);
    const first = await install(script);
    const count = (await devices()).length;
    const { device_id } = readJson(first, "runner", "identity.json");
    await rm(join(first.folder, "state", "runner", "identity.json")); // it was interrupted there
    const again = await install(script, { home: join(first.folder, "..") });
    assert.equal(again.code, 0, again.output);
    assert.equal(readJson(again, "runner", "identity.json").device_id, device_id);
    await rm(join(first.folder, "state", "runner", "identity.json"));
    const anew = await install(await gateway.script(token), { home: join(first.folder, "..") });
    assert.equal(anew.code, 0, anew.output);
    assert.equal((await devices()).length, count);
  });

  it("is refused where its proof is not signed by both keys", async () => {
    const answer = await post({
      code: codeOf(await gateway.script(token)),
      public_key: "41".repeat(32),
      runner_key: "42".repeat(32),
      name: "web-1",
      platform: "linux",
      proof: { device: "0a".repeat(64), runner: "0b".repeat(64) },
    });
    assert.equal(answer.status, 403);
    assert.match(String(answer.body.detail), /not signed by both keys/);
  });

  it("has neither token nor code in the arguments or the environment of a program", async function () {
    if (process.platform !== "linux") return this.skip(); // there is no /proc
    const script = await gateway.script(token);
    const code = codeOf(script);
    const secrets = [code, token];
    const seen: string[] = [];
    const modes: number[] = [];
    const folder = await testFolder();
    // Stands between the script and the gateway, and looks while the agent waits for its answer.
    const proxy = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      if (request.method === "POST") {
        seen.push(...findInProcesses(secrets));
        for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
          if (file.endsWith("/code")) modes.push(statSync(join(folder, file)).mode & 0o777);
        }
      }
      const answer = await fetch(gateway.url + request.url, {
        method: request.method!,
        headers: { "content-type": "application/json" },
        ...(body ? { body } : {}),
      });
      response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const server = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      const env = { TMPDIR: folder };
      const changed = script.replace(/server='[^']*'/, `server='${server}'`);
      const installed = await install(changed, { env });
      assert.equal(installed.code, 0, installed.output);
      assert.deepEqual([seen, modes], [[], [0o600]]);
      assert.ok(!installed.output.includes(code));
    } finally {
      proxy.close();
    }
  });

  it("leaves no token and no code in logs or in the database", async () => {
    const tables = await gateway.platform.store.asTenant("acme").query(
      "SELECT t::text FROM tenant_tokens t UNION ALL SELECT d::text FROM devices d UNION ALL SELECT u::text FROM used_enrolment_codes u",
    );
    const outbox = await gateway.platform.store.asPlatform().query(
      "SELECT payload FROM seal_outbox",
    );
    const kept = gateway.log() + JSON.stringify(tables) + JSON.stringify(outbox);
    const secret = token.slice("slp_tenant_".length);
    assert.ok(gateway.log().includes("/v1/devices/agent/install/"));
    assert.ok(!kept.includes(secret));
    const mac = codeOf(await gateway.script(token)).split(".")[3]!;
    assert.ok(!gateway.log().includes(mac));
  });
});

/** Returns which processes have one of these texts in their arguments or their environment. */
function findInProcesses(texts: readonly string[]): string[] {
  const files = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`]);
  return files.filter((file) => {
    try {
      const content = readFileSync(file, "utf8");
      return texts.some((text) => content.includes(text));
    } catch {
      return false; // it has ended, or is another user's
    }
  });
}
