import assert from "node:assert/strict";
import { join } from "node:path";
import {
  ensureRecoveryKey,
  listLedgerKeys,
  parseRecoveryKey,
  runSequencer,
} from "../../../ledger/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { testFolder } from "../../_run.ts";
import { type TestDatabase, testDatabase } from "../../_servers.ts";

describe("the recovery key of a new ledger", () => {
  let database: TestDatabase;
  let owner: Store;
  let sequencer: Store;
  beforeEach(async () => {
    database = await testDatabase();
    owner = openStore(database.urls.owner, "owner", 4);
    sequencer = openStore(database.urls.sequencer, "sequencer");
    await database.executeAsSuperuser("DELETE FROM ledger_recovery");
  });
  afterEach(async () => {
    await Promise.all([owner.close(), sequencer.close()]);
    await database.drop();
  });

  /** Begins the ledger with files of another machine. @returns the public recovery key in force, hex */
  async function begin(recoveryKey?: string): Promise<string | undefined> {
    const stop = new AbortController();
    await runSequencer({
      store: sequencer,
      keyFile: join(await testFolder(), "ledger.key"),
      recoveryKey,
      signal: stop.signal,
      onLeaves: () => stop.abort(),
    });
    return (await listLedgerKeys(owner))[0]?.recoveryKey;
  }

  it("is the one that was shown, wherever the sequencer runs", async () => {
    const shown: string[] = [];
    const show = (secret: string) => void shown.push(secret);
    const made = await Promise.all(
      Array.from({ length: 4 }, () => ensureRecoveryKey(owner, { show })),
    );
    assert.deepEqual([shown.length, made.filter(Boolean).length], [1, 1]);
    assert.equal(await begin(), parseRecoveryKey(shown[0]!).publicKey.toString("hex"));
    assert.equal(await ensureRecoveryKey(owner, { show: assert.fail }), false);
  });

  it("is needed: no ledger begins without one", async () => {
    await assert.rejects(begin(), /has no recovery key.*make-recovery-key/);
    assert.deepEqual(await listLedgerKeys(owner), []);
  });

  it("may be made elsewhere, and is then stored with the ledger", async () => {
    const elsewhere = "ab".repeat(32);
    assert.equal(await begin(elsewhere), elsewhere);
    await database.executeAsSuperuser("DELETE FROM ledger_recovery");
    assert.equal(await ensureRecoveryKey(owner, { show: assert.fail }), false, "it has begun");
  });

  it("is never one of two", async () => {
    await ensureRecoveryKey(owner, { publicKey: "ab".repeat(32), show: assert.fail });
    await assert.rejects(begin("cd".repeat(32)), /has two recovery keys/);
  });
});
