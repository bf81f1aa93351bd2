import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { loadConfig } from "../../../config.ts";
import {
  backUp,
  exportReceipts,
  getHead,
  listLedgerKeys,
  loadBackup,
  openSealer,
  readLogSettings,
  restoreLedger,
  runSequencer,
  verifyBackup,
  verifyChain,
} from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { testFolder } from "../../_run.ts";
import { testDatabase } from "../../_servers.ts";
import { anyRequest } from "../_ledger.ts";
import { openRestore, type RestoreSetup } from "./_restore.ts";
import { asSuperuser } from "../../_superuser.ts";

describe("a backup", () => {
  let setup: RestoreSetup;
  let folder: string;
  const log = () => readLogSettings(loadConfig({ SEALOOP_DATA: setup.sealing.folder }));

  before(async () => {
    setup = await openRestore(20);
    folder = join(await testFolder(), "backup");
    await setup.sealing.sealer.request(
      anyRequest({ id: "with-evidence", evidence: { text: "é\n" } }),
    );
    await backUp({
      databaseUrl: setup.sealing.database.superuserUrl,
      keyFile: join(setup.sealing.folder, "ledger.key"),
      log: log(),
      folder,
    });
  });
  after(() => setup.close());

  it("has the dump, the checkpoint and the signer's state, and no key", async () => {
    const { files } = await verifyBackup(folder, log());
    assert.deepEqual([...files.keys()], ["database.ndjson.gz", "signer.json", "checkpoint"]);
    assert.equal(statSync(join(folder, "database.ndjson.gz")).mode & 0o077, 0);
    const { size } = JSON.parse(readFileSync(join(folder, "signer.json"), "utf8"));
    assert.equal(size, setup.texts.length);
    const dump = gunzipSync(readFileSync(join(folder, "database.ndjson.gz"))).toString();
    assert.match(dump, /"with-evidence"/);
    assert.doesNotMatch(dump, /PRIVATE KEY/);
  });

  it("is not made over another one", async () => {
    const databaseUrl = setup.sealing.database.superuserUrl;
    const keyFile = join(setup.sealing.folder, "ledger.key");
    await assert.rejects(backUp({ databaseUrl, keyFile, log: log(), folder }), {
      name: "BadBackup",
    });
  });

  it("is not believed where a file was changed or is missing, or another key signed it", async () => {
    const copy = async () => {
      const path = join(await testFolder(), "copy");
      await cp(folder, path, { recursive: true });
      return path;
    };
    const changed = await copy();
    appendFileSync(join(changed, "signer.json"), " ");
    await assert.rejects(verifyBackup(changed, log()), /signer.json .* is not what was backed up/);
    const incomplete = await copy();
    rmSync(join(incomplete, "checkpoint"));
    await assert.rejects(verifyBackup(incomplete, log()), { name: "BadBackup" });
    const edited = await copy();
    const manifest = readFileSync(join(edited, "manifest"), "utf8");
    writeFileSync(join(edited, "manifest"), manifest.replace(/\n\d{4}-/, "\n2001-"));
    await assert.rejects(verifyBackup(edited, log()), /not signed with the log's key/);
    const keyFile = join(await testFolder(), "checkpoint.key");
    await assert.rejects(verifyBackup(folder, { keyFile }), /not signed with the log's key/);
  });

  it("is refused by a role that does not see all rows", async () => {
    const { urls } = setup.sealing.database;
    const other = join(await testFolder(), "other");
    const keyFile = join(setup.sealing.folder, "ledger.key");
    await assert.rejects(
      backUp({ databaseUrl: urls.ledger, keyFile, log: log(), folder: other }),
      { name: "DumpRefused" },
    );
  });

  it("is loaded on a new machine with the keys alone, and the ledger continues without a fork", async () => {
    setup.sealing.go();
    await setup.sealing.seal(5); // after the backup
    await setup.sealing.pause();
    const published = await setup.readChain();
    const exported = await setup.writeExport(published);
    const newest = readFileSync(join(setup.sealing.folder, "checkpoint"), "utf8");

    const [database, home] = await Promise.all([testDatabase(), testFolder()]);
    for (const name of ["ledger.key", "checkpoint.key"]) {
      await cp(join(setup.sealing.folder, name), join(home, name));
    }
    const keyFile = join(home, "ledger.key");
    const there = readLogSettings(loadConfig({ SEALOOP_DATA: home }));
    const load = () => loadBackup({ databaseUrl: database.superuserUrl, log: there, folder });
    const { signedSize } = await load();
    await assert.rejects(load(), /a backup is loaded into an empty one/);

    const store = openStore(database.urls.sequencer, "sequencer");
    const app = openStore(database.urls.worker, "worker");
    assert.equal((await getHead(app)).size, signedSize);
    const options = { store, keyFile, log: { ...there, quorum: 0 }, minSize: signedSize };
    await assert.rejects(
      restoreLedger({ ...options, exports: [], checkpoint: newest }),
      /with all exports there are/,
    );
    await restoreLedger({ ...options, exports: [exported], checkpoint: newest });

    const stop = new AbortController();
    const running = runSequencer({ store, keyFile, signal: stop.signal });
    const sealer = await openSealer(app);
    await sealer.request(anyRequest({ id: "after" }));
    await Promise.race([sealer.sealed("after"), running]);
    stop.abort();
    await running;
    const texts = (await exportReceipts(app, { from: 0, to: 1_000 })).map(({ text }) => text);
    assert.deepEqual(texts.slice(0, published.length), published);
    assert.equal(texts.length, published.length + 1); // the request in the backup was sealed meanwhile
    assert.deepEqual((await verifyChain(texts, await listLedgerKeys(app))).breaks, []);
    const row = await asSuperuser(app).first(
      "SELECT content FROM evidence WHERE receipt_id = 'with-evidence'",
    );
    assert.deepEqual(JSON.parse(row!.content), "é\n");
    await sealer.close();
    await Promise.all([app.close(), store.close()]);
    await database.drop();
  });
});
