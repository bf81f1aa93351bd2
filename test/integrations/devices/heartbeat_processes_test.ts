import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { freePort } from "../../_run.ts";
import { program } from "../../_programs.ts";
import { type DevicePlatform, startDevicePlatform, type TestDevice } from "./_devices.ts";

describe("a heartbeat that another gateway answers", () => {
  let platform: DevicePlatform;
  let device: TestDevice;
  let other: { readonly address: string; readonly process: ChildProcess };
  before(async () => {
    platform = await startDevicePlatform({ SEALOOP_LIMIT_HEARTBEATS: "12" });
    device = await platform.addDevice();
    const child = fork(await program("processes/gateway.ts"), [], {
      execArgv: [],
      env: {
        PATH: process.env.PATH,
        SEALOOP_DATA: platform.folder,
        SEALOOP_DATABASE_GATEWAY_URL: platform.urls.gateway,
        SEALOOP_GATEWAY_PORT: String(await freePort()),
      },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const [{ address }] = await once(child, "message");
    other = { address, process: child };
  });
  after(async () => {
    other?.process.kill("SIGKILL");
    await platform?.stop();
  });

  it("gets the same answer there, while the first is being answered, and after it", async () => {
    const request = device.heartbeat({ wait_seconds: 2 });
    const first = device.send(request);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { address } = other;
    const answers = [await first, await device.send(request, { address })];
    const next = device.heartbeat({ wait_seconds: 2 });
    const begun = device.send(next, { address });
    await new Promise((resolve) => setTimeout(resolve, 300));
    answers.push(await device.send(next), await begun);
    assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200]);
    assert.equal(answers[0]!.text, answers[1]!.text);
    assert.equal(answers[2]!.text, answers[3]!.text);
    assert.notEqual(answers[0]!.text, answers[2]!.text);
  });

  it("finds a clone that uses another gateway", async () => {
    const victim = await platform.addDevice();
    await victim.beat();
    victim.counter = 0;
    const { address } = other;
    const cloned = await victim.send(victim.heartbeat(), { address });
    assert.equal(cloned.body.code, "counter_cloned");
  });

  it("is answered by the one that lives where the other was killed", async () => {
    const request = device.heartbeat({ wait_seconds: 25 });
    const first = device.send(request, { address: other.address });
    await new Promise((resolve) => setTimeout(resolve, 500));
    other.process.kill("SIGKILL");
    await assert.rejects(first);
    const lost = new AbortController();
    const again = device.send(request, { signal: lost.signal });
    const started = performance.now();
    for (;;) {
      const row = await platform.platform.store.asTenant("acme").first(
        "SELECT holder FROM device_states WHERE device_id = $1 AND answer IS NULL AND holder = $2",
        [device.id, await platform.platform.devices.holder.number()],
      );
      if (row) break;
      assert.ok(performance.now() - started < 10_000, "nobody has taken it over");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    lost.abort(); // the device goes, too: what was taken over is answered then
    await assert.rejects(again);
    assert.equal((await device.send(request)).status, 200);
  });

  it("has a limit a minute that holds over all gateways", async () => {
    const busy = await platform.addDevice();
    const statuses: number[] = [];
    for (let n = 0; n < 30; n++) statuses.push((await busy.beat()).status);
    assert.ok(statuses.includes(429), statuses.join());
    assert.equal(statuses[0], 200);
  });
});
