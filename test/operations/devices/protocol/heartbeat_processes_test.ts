import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { freePort } from "../../../_run.ts";
import { program } from "../../../_programs.ts";
import { eventually } from "../../../_time.ts";
import { type DevicePlatform, startDevicePlatform, type TestDevice } from "./_devices.ts";

describe("a heartbeat that another gateway answers", () => {
  let platform: DevicePlatform;
  let device: TestDevice;
  let other: Awaited<ReturnType<typeof startOther>>;
  before(async () => {
    platform = await startDevicePlatform({ SEALOOP_LIMIT_HEARTBEATS: "12" });
    device = await platform.addDevice();
    other = await startOther();
  });
  after(async () => {
    other?.process.kill("SIGKILL");
    await platform?.stop();
  });

  async function startOther() {
    const child: ChildProcess = fork(await program("processes/gateway.ts"), [], {
      execArgv: [],
      env: {
        PATH: process.env.PATH,
        SEALOOP_DATA: platform.folder,
        SEALOOP_DATABASE_GATEWAY_URL: platform.urls.gateway,
        SEALOOP_GATEWAY_PORT: String(await freePort()),
      },
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    let said = "";
    child.stdout!.on("data", (data) => said += data);
    const [{ address }] = await once(child, "message");
    return { address: String(address), process: child, said: () => said };
  }

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

  it("is answered where its gateway stops, or with 503, and is sent again then", async () => {
    const stopping = await startOther();
    const devices = await Promise.all(Array.from({ length: 30 }, () => platform.addDevice()));
    const statuses: number[] = [];
    let isOver = false;
    const beating = devices.map(async (one, n) => {
      while (!isOver) {
        const request = one.heartbeat({ wait_seconds: n % 2 === 0 ? 25 : 0 });
        const options = n % 3 === 0 ? { signal: AbortSignal.timeout(300) } : {};
        const { address } = stopping;
        const answer = await one.send(request, { ...options, address }).catch(() => undefined);
        if (answer) statuses.push(answer.status);
        if (n % 2 === 0) return;
      }
    });
    while (statuses.length < 15) await new Promise((resolve) => setTimeout(resolve, 20));
    await platform.untilWaiting(devices.filter((_, n) => n % 2 === 0 && n % 3 !== 0));
    const answered = statuses.length;
    const exited = once(stopping.process, "exit");
    stopping.process.kill("SIGTERM");
    assert.deepEqual(await exited, [0, null]);
    isOver = true;
    await Promise.all(beating);
    assert.ok(statuses.length > answered);
    assert.deepEqual(statuses.filter((status) => ![200, 429, 503].includes(status)), []);
    assert.doesNotMatch(stopping.said(), /pool/);
  });

  it("is answered by the one that lives where the other was killed", async () => {
    const db = platform.platform.store.asTenant("acme");
    await db.execute(
      "UPDATE device_states SET online_since = NULL, returned = 1 WHERE device_id = $1",
      [device.id],
    );
    const request = device.heartbeat({ wait_seconds: 25 });
    const first = device.send(request, { address: other.address });
    const told = () =>
      db.query("SELECT FROM messages WHERE kind = 'device.online' AND sender = $1", [device.id]);
    await eventually(async () => (await told()).length > 0);
    other.process.kill("SIGKILL");
    await assert.rejects(first);
    const lost = new AbortController();
    const again = device.send(request, { signal: lost.signal });
    await platform.untilWaiting([device], await platform.platform.devices.holder.number());
    lost.abort(); // the device goes, too: what was taken over is answered then
    await assert.rejects(again);
    assert.equal((await device.send(request)).status, 200);
    assert.equal(
      (await told()).length,
      1,
      "both have taken it as the one with which the device is back",
    );
  });

  it("has a limit a minute that holds over all gateways", async () => {
    const busy = await platform.addDevice();
    const statuses: number[] = [];
    for (let n = 0; n < 30; n++) statuses.push((await busy.beat()).status);
    assert.ok(statuses.includes(429), statuses.join());
    assert.equal(statuses[0], 200);
  });
});
