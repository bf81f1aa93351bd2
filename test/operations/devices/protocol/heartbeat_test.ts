import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { canonicalize, listReceipts } from "../../../../ledger/mod.ts";
import { isConsistent } from "../../../../ledger/rules/mod.ts";
import { sha256 } from "../../../../ledger/crypto/mod.ts";
import { parseCheckpoint, parseNote } from "../../../../ledger/notes/mod.ts";
import { listDecisions } from "../../../../store/calls/mod.ts";
import { getDevice, notifyDevice, releaseDevice } from "../../../../store/devices/mod.ts";
import { listTickets } from "../../../../store/incidents/mod.ts";
import { type DevicePlatform, INVENTORY, startDevicePlatform } from "./_devices.ts";
import { readAgent } from "../../../../judgement/shield/mod.ts";

describe("a device's heartbeat", () => {
  let platform: DevicePlatform;
  before(async () => {
    platform = await startDevicePlatform();
  });
  after(() => platform?.stop());

  const tenantDb = () => platform.platform.store.asTenant("acme");

  it("gets the newest log, with the proof that it begins with what the device has accepted", async () => {
    const device = await platform.addDevice();
    const first = (await device.beat({ delta: INVENTORY })).body;
    const old = parseCheckpoint(parseNote(first.log.checkpoint).text);
    for (let n = 0; n < 3; n++) {
      await platform.platform.sealer.request({
        category: "test",
        actor: "test",
        subject: "test",
        action: "test",
        outcome: "ok",
      });
    }
    await platform.untilPublished(old.size + 3);
    await new Promise((resolve) => setTimeout(resolve, 600));
    const { log, commands, interval_seconds } = (await device.beat({ log_size: old.size })).body;
    const now = parseCheckpoint(parseNote(log.checkpoint).text);
    assert.ok(now.size >= old.size + 3);
    const proof = log.consistency.map((one: string) => Buffer.from(one, "hex"));
    const { size: oldSize, root: oldRoot } = old;
    assert.ok(
      isConsistent({ oldSize, oldRoot, newSize: now.size, newRoot: now.root, proof }, sha256),
    );
    assert.deepEqual(commands, []);
    assert.equal(interval_seconds, 60);
  });

  it("brings the inventory in parts, and hears when the platform has another one", async () => {
    const device = await platform.addDevice();
    assert.equal((await device.beat()).body.inventory_sha256, null);
    const sha256Of = (value: unknown) => hash("sha256", canonicalize(value));
    const all = await device.beat({ delta: INVENTORY });
    assert.equal(all.body.inventory_sha256, sha256Of(INVENTORY));
    device.inventory = { ...INVENTORY, cpu: { model: "test", count: 2, load_percent: 90.5 } };
    const changed = await device.beat({ delta: { cpu: device.inventory.cpu } });
    assert.equal(changed.body.inventory_sha256, sha256Of(device.inventory));
    const { memory: _, ...rest } = device.inventory;
    device.inventory = rest;
    assert.notEqual((await device.beat()).body.inventory_sha256, sha256Of(rest));
    const whole = await device.beat({ delta: rest });
    assert.equal(whole.body.inventory_sha256, sha256Of(rest), "a section that is gone is removed");
  });

  it("hears once of another agent, and with each answer which policies are in force", async () => {
    const device = await platform.addDevice();
    const { update, policy_version } = (await device.beat({ delta: INVENTORY })).body;
    const { sha256: served } = await readAgent();
    assert.equal(update.sha256, served);
    assert.equal(policy_version, 0);
    assert.equal((await device.beat()).body.update, undefined);
    const agent = { ...INVENTORY.agent as object, sha256: served };
    assert.equal((await device.beat({ delta: { agent } })).body.update, undefined);
  });

  it("gets the same answer again, also while the first is being answered", async () => {
    const device = await platform.addDevice();
    const request = device.heartbeat({ wait_seconds: 1 });
    const answers = await Promise.all([device.send(request), device.send(request)]);
    answers.push(await device.send(request));
    assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200]);
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  });

  it("keeps its answer for the repetition where the connection is lost", async () => {
    const device = await platform.addDevice();
    const request = device.heartbeat({ wait_seconds: 25 });
    const lost = new AbortController();
    const sent = device.send(request, { signal: lost.signal });
    const started = performance.now();
    await platform.untilWaiting([device]);
    lost.abort();
    await assert.rejects(sent);
    const again = await device.send(request);
    assert.deepEqual([again.status, again.body.interval_seconds], [200, 5]);
    assert.ok(performance.now() - started < 25_000, "it has waited in vain");
    assert.equal((await device.send(request)).text, again.text);
  });

  it("ends early where there are other news than commands, so that the device comes back", async () => {
    const device = await platform.addDevice();
    const waiting = device.beat({ wait_seconds: 25 });
    let answer: Awaited<typeof waiting> | undefined;
    void waiting.then((one) => answer = one);
    while (!answer) {
      await notifyDevice(tenantDb(), device.id);
      await sleep(50);
    }
    assert.deepEqual([answer.body.commands, answer.body.interval_seconds], [[], 5]);
  });

  it("is no clone's where an earlier one comes late", async () => {
    const device = await platform.addDevice();
    const early = device.heartbeat();
    await device.send(early);
    await device.beat();
    const late = await device.send(early);
    assert.equal(late.status, 409);
    assert.equal(late.body.code, "counter_late");
    assert.equal((await getDevice(tenantDb(), device.id))!.status, "active");
  });

  it("is late for ever where somebody has kept it, and never a reason for quarantine", async () => {
    const device = await platform.addDevice();
    const kept = [device.heartbeat(), device.heartbeat()];
    await device.send(kept[0]!); // the other one never came
    for (let n = 0; n < 10; n++) await device.beat();
    const challenges = new Set<string>();
    for (const request of [...kept, ...kept]) {
      const { status, body } = await device.send(request);
      assert.deepEqual([status, body.code], [409, "counter_late"]);
      challenges.add(body.challenge);
    }
    assert.equal(challenges.size, 1, "copies can't replace what a device is challenged with");
    const [challenge] = challenges;
    const answered = device.heartbeat({ challenge });
    await device.beat();
    assert.equal((await device.send(answered)).body.code, "counter_late", "it was held back");
    assert.equal((await device.beat({ challenge })).status, 200);
    assert.equal((await getDevice(tenantDb(), device.id))!.status, "active");
  });

  it("shows a clone that is behind once it repeats the challenge", async () => {
    const device = await platform.addDevice();
    for (let n = 0; n < 5; n++) await device.beat();
    device.counter = 1;
    const late = await device.beat();
    assert.equal(late.body.code, "counter_late");
    const cloned = await device.beat({ challenge: late.body.challenge });
    assert.equal(cloned.body.code, "counter_cloned");
    assert.equal((await getDevice(tenantDb(), device.id))!.quarantine, "cloned");
  });

  it("shows a clone, which is quarantined with a ticket and a receipt, and still heard", async () => {
    const device = await platform.addDevice();
    await device.beat();
    await device.beat();
    device.counter = 1;
    const cloned = await device.beat();
    assert.equal(cloned.status, 409);
    assert.equal(cloned.body.code, "counter_cloned");
    const { status, quarantine } = (await getDevice(tenantDb(), device.id))!;
    assert.deepEqual([status, quarantine], ["quarantined", "cloned"]);
    device.counter = 1;
    await device.beat(); // once more: it is quarantined already
    const { tickets } = await ticketsAbout(device.id);
    assert.equal(tickets.length, 1);
    assert.ok(tickets[0]!.escalated);
    await platform.platform.sealer.sealed(tickets[0]!.receipt_id!);
    const sealed = await listReceipts(platform.platform.store, {
      category: "device_quarantined",
      limit: 10,
    });
    assert.ok(sealed.some(({ text }) => JSON.parse(text).subject === device.id));
    device.counter = 10;
    assert.equal((await device.beat()).status, 200);
  });

  it("shows a journal that was put back, until a person releases the device", async () => {
    const device = await platform.addDevice();
    device.journal = { seq: 5, head: "5".repeat(64) };
    await device.beat();
    device.journal = { seq: 5, head: "6".repeat(64) };
    assert.equal((await device.beat()).status, 200);
    const db = tenantDb();
    assert.equal((await getDevice(db, device.id))!.quarantine, "journal_rolled_back");
    await db.transaction((trx) => releaseDevice(trx, device.id));
    await device.beat();
    await device.beat();
    assert.equal((await getDevice(db, device.id))!.status, "active");
  });

  it("is decided by nobody and counts for no day, but has a limit of its own", async () => {
    const device = await platform.addDevice();
    await device.beat();
    const decisions = await listDecisions(tenantDb(), { limit: 10 });
    assert.equal(JSON.stringify(decisions).includes(device.id), false);
    const kinds = await tenantDb().query("SELECT kind FROM usage WHERE subject = $1", [device.id])
      .catch(() => []);
    assert.ok(kinds.every(({ kind }) => kind === "heartbeats"));
  });

  async function ticketsAbout(deviceId: string) {
    const all = await listTickets(tenantDb(), { limit: 100 });
    return { tickets: all.filter(({ title }) => title.includes(deviceId)) };
  }
});
