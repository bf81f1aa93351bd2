import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getPublishedCheckpoint, getReceipt } from "../../../../ledger/mod.ts";
import { signNote } from "../../../../ledger/log/mod.ts";
import { formatCheckpoint, parseCheckpoint, parseNote } from "../../../../ledger/notes/mod.ts";
import { listTickets } from "../../../../store/incidents/mod.ts";
import { type DevicePlatform, startDevicePlatform, type TestDevice } from "./_devices.ts";

describe("a head of the log that a device has cosigned", () => {
  let platform: DevicePlatform;
  let device: TestDevice;
  let note: string;
  let size: number;
  before(async () => {
    platform = await startDevicePlatform();
    device = await platform.addDevice();
    ({ note, size } = (await getPublishedCheckpoint(platform.platform.store))!);
  });
  after(() => platform?.stop());

  const tenantDb = () => platform.platform.store.asTenant("acme");
  const keptNote = async () =>
    (await tenantDb().first("SELECT cosigned_note FROM device_states WHERE device_id = $1", [
      device.id,
    ]))!.cosigned_note;
  const countViews = async () => (await tenantDb().query("SELECT FROM split_views")).length;
  const splitTickets = async () =>
    (await listTickets(platform.platform.store.asPlatform(), { limit: 50 }))
      .filter(({ title }) => /another log/.test(title));

  /** Signs another head of the same size with the log's own key, as an operator can who shows two logs. */
  async function signOther(): Promise<string> {
    const key = createPrivateKey(await readFile(join(platform.folder, "checkpoint.key")));
    const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
    const { origin } = parseCheckpoint(parseNote(note).text);
    const text = formatCheckpoint({ origin, size, root: Buffer.alloc(32, 7) });
    return signNote(text, { name: origin, publicKey, kind: "log" }, key);
  }

  it("is kept where it is that of the published log", async () => {
    const { status } = await device.beat({ log_size: size, ...device.cosign(note) });
    assert.equal(status, 200);
    assert.equal(await keptNote(), note);
    assert.equal(await countViews(), 0);
  });

  it("is not believed where the runner has not cosigned it, or the log's key has not signed it", async () => {
    const other = await signOther();
    const stranger = await platform.addDevice();
    const forged = other.replace(/ (\S{20})(\S{4})/, " $1AAAA");
    await device.beat({ log_size: size, ...device.cosign(other, stranger.runner) });
    await device.beat({ log_size: size, ...device.cosign(forged) });
    await device.beat({ log_size: size + 1, ...device.cosign(other) });
    assert.equal(await keptNote(), note);
    assert.equal(await countViews(), 0);
  });

  it("shows a split view to everybody where it is another one, and the device is given nothing", async () => {
    const other = await signOther();
    const junk = `${other}\u2014 a.stranger ${"A".repeat(200)}\n`;
    const { status, body } = await device.beat({ log_size: size, ...device.cosign(junk) });
    assert.equal(status, 200);
    assert.deepEqual([body.log, body.commands], [null, []]);
    const [ticket] = await splitTickets();
    assert.ok(ticket?.escalated);
    await platform.platform.sealer.sealed(ticket.receipt_id!);
    const { text } = (await getReceipt(platform.platform.store, ticket.receipt_id!))!;
    const { details } = JSON.parse(text);
    assert.equal(details.checkpoint, other, "what strangers wrote is left out");
    assert.equal(details.size, size);
    await device.beat({ log_size: size, ...device.cosign(junk) });
    assert.equal(await countViews(), 1);
    assert.equal((await splitTickets()).length, 1);
  });

  it("is one that contradicts where the platform has less than the device has accepted", async () => {
    const later = await platform.addDevice();
    const { body } = await later.beat({ log_size: size + 1_000_000 });
    assert.equal(body.log, null);
  });
});
