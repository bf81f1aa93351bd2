import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../config.ts";
import {
  beginNewLedger,
  ensureRecoveryKey,
  exportReceipts,
  getHead,
  readLogSettings,
  runSequencer,
} from "../../../ledger/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { anyRequest } from "../_ledger.ts";
import { openRestore, type RestoreSetup } from "./_restore.ts";

const never = new AbortController().signal;

describe("a new ledger in place of one of which receipts are lost for ever", () => {
  let setup: RestoreSetup;
  let owner: Store;
  beforeEach(async () => {
    setup = await openRestore(10);
    owner = openStore(setup.sealing.database.urls.owner, "owner", 2);
  });
  afterEach(async () => {
    await owner.close();
    await setup.close();
  });

  const begin = (origin = "ledger-2.example") =>
    beginNewLedger({
      owner,
      keyFile: join(setup.sealing.folder, "ledger.key"),
      log: readLogSettings(
        loadConfig({ SEALOOP_DATA: setup.sealing.folder, SEALOOP_LEDGER_ORIGIN: origin }),
      ),
    });

  it("puts the old keys aside, adopts what is left, and says so in its first receipt", async () => {
    const { folder, database, sealer, app } = setup.sealing;
    const oldKey = readFileSync(join(folder, "ledger.key"), "utf8");
    const checkpoint = readFileSync(join(folder, "checkpoint"), "utf8").split("\n");
    await setup.putBack(5);
    await database.executeAsSuperuser("DELETE FROM seal_outbox");
    await begin();
    const { retired } = await begin(); // as after one that was killed before it could say so
    assert.equal(readFileSync(join(retired, "ledger.key"), "utf8"), oldKey);
    assert.ok(readdirSync(retired).includes("signer"));
    assert.ok(!existsSync(join(folder, "ledger.key")));

    const store = openStore(database.urls.sequencer, "sequencer");
    const without = runSequencer({ store, keyFile: join(folder, "ledger.key"), signal: never });
    await assert.rejects(without, /no recovery key.*make-recovery-key/);
    assert.ok(await ensureRecoveryKey(owner, { show: () => {} }));
    const stop = new AbortController();
    const keyFile = join(folder, "ledger.key");
    const running = runSequencer({ store, keyFile, signal: stop.signal });
    await sealer.request(anyRequest({ id: "after" }));
    await Promise.race([sealer.sealed("after"), running]);
    stop.abort();
    await running;
    const texts = (await exportReceipts(app, { from: 0, to: 100 })).map(({ text }) => text);
    assert.deepEqual(texts.slice(0, 5), setup.texts.slice(0, 5));
    const { category, outcome, details } = JSON.parse(texts[5]!);
    assert.deepEqual([category, outcome], ["ledger_adopted", "replaced"]);
    assert.deepEqual(details.replaces, {
      origin: "sealoop.localhost",
      size: 5,
      signed_size: setup.texts.length,
      checkpoint_root: Buffer.from(checkpoint[2]!, "base64").toString("hex"),
      checkpoint_size: setup.texts.length,
    });
    assert.equal(JSON.parse(texts.at(-1)!).id, "after");
    await store.close();
  });

  it("is refused where nothing is lost, or under the old name", async () => {
    await assert.rejects(begin(), /Nothing is lost/);
    await setup.putBack(5);
    await assert.rejects(begin("sealoop.localhost"), /set SEALOOP_LEDGER_ORIGIN/);
    assert.ok(existsSync(join(setup.sealing.folder, "ledger.key")));
    assert.equal((await getHead(setup.sealing.app)).size, 5);
  });
});
