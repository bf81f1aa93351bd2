import assert from "node:assert/strict";
import { copyFileSync, cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../config.ts";
import { findSignerProblem, openSigner, readLogSettings, serveKey } from "../../../ledger/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { testFolder } from "../../_run.ts";
import { startSealing, type TestSealing } from "../_ledger.ts";

describe("a standby of the sequencer", () => {
  let sealing: TestSealing;
  let store: Store;
  /** Data folder of the standby. */
  let folder: string;
  const path = (name: string) => join(folder, name);

  before(async () => {
    sealing = await startSealing();
    store = openStore(sealing.database.urls.sequencer, "sequencer", 1);
    await sealing.untilPublished(1);
  });
  after(async () => {
    await store.close();
    await sealing.stop();
  });
  beforeEach(async () => {
    folder = await testFolder();
    copyFileSync(sealing.keyFile, path("ledger.key"));
    copyFileSync(join(sealing.folder, "checkpoint.key"), path("checkpoint.key"));
    cpSync(join(sealing.folder, "signer"), path("signer"), { recursive: true });
  });

  const findProblem = (signerSocket?: string) =>
    findSignerProblem({
      store,
      keyFile: path("ledger.key"),
      signerSocket,
      log: readLogSettings(loadConfig({ SEALOOP_DATA: folder })),
    });

  it("could sign with the key in force and its journal, while another one seals", async () => {
    assert.equal(await findProblem(), undefined);
    await sealing.seal(1);
  });

  it("waits for a key that is not there, and makes none", async () => {
    rmSync(path("ledger.key"));
    const problem = await findProblem();
    assert.deepEqual([problem?.code, problem?.waitsFor], ["key", "the ledger's key"]);
    assert.match(problem!.says, /key is missing.*npm run keys -- ledger recover/);
    await assert.rejects(openSigner(path("ledger.key"), { mayBegin: false }), /key is missing/);
    rmSync(path("signer"), { recursive: true });
    await assert.rejects(openSigner(path("ledger.key"), { mayBegin: false }), /is missing/);
    assert.ok(!existsSync(path("ledger.key")) && !existsSync(path("signer")));
  });

  it("waits for another key than it has", async () => {
    copyFileSync(path("checkpoint.key"), path("ledger.key"));
    const problem = await findProblem();
    assert.equal(problem?.code, "key");
    assert.match(problem!.says, /signed by the key [0-9a-f]{64}, and .*ledger\.key holds/);
  });

  it("could go on with another key where the database has lost receipts, which may introduce that", async () => {
    const signer = await openSigner(path("ledger.key"));
    await signer.startFrom({ size: 1_000, hash: Buffer.alloc(32) });
    await signer.close();
    copyFileSync(path("checkpoint.key"), path("ledger.key"));
    assert.equal(await findProblem(), undefined);
  });

  it("waits for the key of the log, of which there may be one", async () => {
    rmSync(path("checkpoint.key"));
    assert.equal((await findProblem())?.code, "checkpoint_key");
    assert.ok(!existsSync(path("checkpoint.key")));
  });

  it("waits for a journal that is missing, or behind", async () => {
    await sealing.seal(1);
    const behind = await findProblem();
    assert.equal(behind?.code, "journal");
    assert.match(behind!.says, /database has \d+ receipts, and the signer's journal ends at \d+/);
    rmSync(path("signer"), { recursive: true });
    assert.match((await findProblem())!.says, /folder signer .* is missing/);
  });

  it("waits for the process that has the key, and signs by it", async () => {
    rmSync(path("ledger.key"));
    const socket = path("signer.sock");
    const away = await findProblem(socket);
    assert.deepEqual([away?.code, away?.waitsFor], ["signer", "the signer's process"]);
    assert.match(away!.says, /signer\.sock does not answer: .*ENOENT.*npm run signer/);
    const served = await serveKey(sealing.keyFile, socket);
    try {
      assert.equal(await findProblem(socket), undefined);
    } finally {
      await served.close();
    }
  });
});
