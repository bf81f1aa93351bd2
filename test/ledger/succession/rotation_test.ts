import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  exportReceipts,
  listLedgerKeys,
  makeRecoveryKey,
  parseRecoveryKey,
  recoverLedgerKey,
  requestRotation,
  verifyChain,
  watchChain,
} from "../../../ledger/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { startSealing, type TestSealing } from "../_ledger.ts";

describe("the keys of a ledger", () => {
  let sealing: TestSealing;
  let store: Store;
  beforeEach(async () => {
    sealing = await startSealing();
    await sealing.seal(3);
    store = openStore(sealing.database.urls.sequencer, "sequencer");
  });
  afterEach(async () => {
    await store.close();
    await sealing.stop();
  });

  const records = async () =>
    (await exportReceipts(sealing.app, { from: 0, to: 1_000 })).map(({ text }) => JSON.parse(text));
  async function untilKey(publicKey: string) {
    while ((await listLedgerKeys(sealing.app)).at(-1)!.publicKey !== publicKey) await sleep(20);
  }
  /** Asserts that the chain holds, for a verifier and for the server. */
  async function assertHolds() {
    const receipts = await exportReceipts(sealing.app, { from: 0, to: 1_000 });
    const keys = await listLedgerKeys(sealing.app);
    assert.deepEqual((await verifyChain(receipts.map(({ text }) => text), keys)).breaks, []);
    const watch = await watchChain(sealing.app, { onDemand: true });
    const { chain_intact, first_breaks } = await watch.catchUp();
    await watch.close();
    assert.deepEqual([chain_intact, first_breaks], [true, []]);
    assert.deepEqual(sealing.troubles, []);
  }
  const recover = (secret = sealing.recoveryKey, newRecoveryKey?: string) =>
    recoverLedgerKey({
      store,
      keyFile: sealing.keyFile,
      recoveryKey: parseRecoveryKey(secret),
      newRecoveryKey,
    });

  it("begin with a genesis that names the ledger key and the recovery key", async () => {
    const [genesis] = await records();
    const [key] = await listLedgerKeys(sealing.app);
    assert.equal(genesis.category, "ledger_genesis");
    assert.deepEqual(genesis.details, {
      ledger_key: key!.publicKey,
      recovery_key: key!.recoveryKey,
    });
    const recovery = parseRecoveryKey(sealing.recoveryKey).publicKey.toString("hex");
    assert.deepEqual(key, { publicKey: key!.publicKey, fromPosition: 0, recoveryKey: recovery });
    await assertHolds();
  });

  it("are rotated between batches while receipts are sealed", async () => {
    const [old] = await listLedgerKeys(sealing.app);
    const sealed = sealing.seal(500);
    const newKey = requestRotation(sealing.keyFile);
    await untilKey(newKey);
    await sealed;
    await sealing.seal(3);
    const keys = await listLedgerKeys(sealing.app);
    assert.equal(keys.length, 2);
    const all = await records();
    const rotation = all.find(({ category }) => category === "key_rotated");
    assert.equal(rotation.signature.public_key, old!.publicKey);
    assert.equal(keys[1]!.fromPosition, rotation.chain_position + 1);
    assert.equal(all.at(-1).signature.public_key, newKey);
    assert.ok(!existsSync(`${sealing.keyFile}.next`));
    await assertHolds();
  });

  it("are rotated twice, and each time a start goes on with the newest", async () => {
    for (let n = 0; n < 2; n++) {
      await untilKey(requestRotation(sealing.keyFile));
      await sealing.pause();
      sealing.go();
      await sealing.seal(1);
    }
    assert.equal((await listLedgerKeys(sealing.app)).length, 3);
    await assertHolds();
  });

  it("go on where a crash came between sealing the rotation and putting the new key in place", async () => {
    copyFileSync(sealing.keyFile, `${sealing.keyFile}.old`);
    const newKey = requestRotation(sealing.keyFile);
    await untilKey(newKey);
    await sealing.pause();
    copyFileSync(sealing.keyFile, `${sealing.keyFile}.next`);
    copyFileSync(`${sealing.keyFile}.old`, sealing.keyFile);
    sealing.go();
    await sealing.seal(1);
    assert.equal((await records()).at(-1).signature.public_key, newKey);
    await assertHolds();
  });

  it("hold sealing where the file has another key than the ledger", async () => {
    await sealing.pause();
    const { untilSealed, keyFile } = sealing;
    const other = await startSealing();
    await other.seal(1);
    await other.pause();
    copyFileSync(other.keyFile, keyFile);
    await other.stop();
    sealing.go();
    await assert.rejects(untilSealed(100), /npm run keys -- ledger recover/);
  });

  it("are recovered where the ledger key is lost", async () => {
    await sealing.pause();
    rmSync(sealing.keyFile);
    const newKey = await recover();
    sealing.go();
    await sealing.seal(2);
    const all = await records();
    const recovery = all.find(({ category }) => category === "key_rotated");
    const recoveryKey = parseRecoveryKey(sealing.recoveryKey).publicKey.toString("hex");
    assert.deepEqual([recovery.outcome, recovery.signature.public_key], ["recovered", recoveryKey]);
    assert.equal(all.at(-1).signature.public_key, newKey);
    await assertHolds();
  });

  it("are recovered from a thief who has rotated them", async () => {
    await untilKey(requestRotation(sealing.keyFile)); // by the thief, who has the key now
    await sealing.pause();
    const stolen = readFileSync(sealing.keyFile, "utf8");
    const newRecovery = makeRecoveryKey();
    await recover(sealing.recoveryKey, newRecovery.publicKey);
    assert.notEqual(readFileSync(sealing.keyFile, "utf8"), stolen);
    sealing.go();
    await sealing.seal(2);
    await assertHolds();
    await sealing.pause();
    await assert.rejects(recover(), /The ledger's recovery key is/); // the one before is no longer valid
    await recover(newRecovery.secret);
    sealing.go();
    await sealing.seal(1);
    await assertHolds();
  });

  it("are not recovered with another key, nor while a sequencer is at work", async () => {
    await assert.rejects(recover(), { name: "SequencerBusy" });
    await sealing.pause();
    const before = readFileSync(sealing.keyFile, "utf8");
    await assert.rejects(recover(makeRecoveryKey().secret), { name: "RecoveryRefused" });
    assert.equal(readFileSync(sealing.keyFile, "utf8"), before);
  });
});
