import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  exportReceipts,
  getHead,
  importLedger,
  listLedgerKeys,
  rootKeyFile,
  useRootKey,
  verifyChain,
  watchChain,
} from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { anyRequest, prepareSealing, startSealing, type TestSealing } from "../_ledger.ts";

describe("a ledger that begins with the receipts of another platform", () => {
  let sealing: TestSealing;
  let size: number;
  before(async () => {
    const other = await startSealing();
    await other.seal(5);
    await other.pause();
    const receipts = await exportReceipts(other.app, { from: 0, to: 100 });
    size = receipts.length;
    sealing = await prepareSealing();
    const path = join(sealing.folder, "export.ndjson");
    writeFileSync(path, receipts.map(({ text }) => text).join("\n"));
    const store = openStore(sealing.database.urls.sequencer, "sequencer");
    await importLedger(store, path, { threads: 1 });
    await store.close();
    await other.stop();
    sealing.go();
    for (const id of ["own-1", "own-2"]) {
      await sealing.sealer.request(anyRequest({ id }));
      await sealing.sealer.sealed(id);
    }
    await sealing.pause();
  });
  after(() => sealing.stop());

  async function watch() {
    const chain = await watchChain(sealing.app, { onDemand: true });
    const { chain_intact, first_breaks } = await chain.catchUp();
    await chain.close();
    return [chain_intact, first_breaks[0]?.position];
  }

  it("adopts them with their keys", async () => {
    const { publicKey, recoveryKey } = (await listLedgerKeys(sealing.app))[0]!;
    const [adoption] = await exportReceipts(sealing.app, { from: size, to: size + 1 });
    const { category, details } = JSON.parse(adoption!.text);
    assert.deepEqual([category, details.size, details.keys], ["ledger_adopted", size, [
      { public_key: publicKey, from_position: 0, recovery_key: recoveryKey },
    ]]);
    assert.equal((await getHead(sealing.app)).size, size + 3);
  });

  it("is a break for a verifier that does not know the key which adopts them", async () => {
    const texts = (await exportReceipts(sealing.app, { from: 0, to: 100 })).map(({ text }) => text);
    const keys = await listLedgerKeys(sealing.app);
    assert.equal((await verifyChain(texts, keys)).breaks[0]?.position, size);
    const pinned = keys.map((key, n) => n === 1 ? { ...key, isPinned: true } : key);
    assert.deepEqual((await verifyChain(texts, pinned)).breaks, []);
  });

  it("holds for the platform that knows from its own files which key that is", async () => {
    assert.deepEqual(await watch(), [false, size]);
    useRootKey(sealing.app, rootKeyFile(sealing.folder));
    assert.deepEqual(await watch(), [true, undefined]);
  });

  it("does not hold where a superuser has published other keys from the start", async () => {
    await sealing.database.executeAsSuperuser(
      `SET session_replication_role = replica; DELETE FROM ledger_keys WHERE from_position > 0`,
    );
    assert.deepEqual(await watch(), [false, 0]);
  });
});
