import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exportReceipts, getHead, listLedgerKeys, verifyChain } from "../../../ledger/mod.ts";
import { getSealingTrouble } from "../../../store/platform/mod.ts";
import { anyRequest, startSealing, type TestSealing } from "../_ledger.ts";

describe("a sequencer that was stopped between signing and committing", () => {
  let sealing: TestSealing;
  const asSuperuser = (sql: string) => sealing.database.executeAsSuperuser(sql);

  beforeEach(async () => {
    sealing = await startSealing();
    await sealing.seal(2); // and the genesis
    await sealing.pause();
  });
  afterEach(() => sealing.stop());

  /** Requests receipts, lets the sequencer sign them, and refuses its commit. */
  async function signWithoutCommit(count: number): Promise<string[]> {
    await asSuperuser(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the disk of the database is full'; END $$;
      CREATE TRIGGER fail BEFORE INSERT ON receipts EXECUTE FUNCTION fail()`);
    const ids = Array.from({ length: count }, (_, n) => `later-${n}`);
    for (const id of ids) await sealing.sealer.request(anyRequest({ id }));
    sealing.go();
    await assert.rejects(sealing.untilSealed(4), /disk of the database/);
    await asSuperuser("DROP TRIGGER fail ON receipts");
    return ids;
  }

  async function readChain() {
    const receipts = await exportReceipts(sealing.app, { from: 0, to: 10_000 });
    const texts = receipts.map(({ text }) => text);
    const { breaks } = await verifyChain(texts, await listLedgerKeys(sealing.app));
    assert.deepEqual(breaks, []);
    return receipts;
  }

  it("commits what it has signed first, also where the requests are gone", async () => {
    const ids = await signWithoutCommit(5);
    await asSuperuser("DELETE FROM seal_outbox");
    sealing.go();
    await sealing.untilSealed(8);
    assert.deepEqual((await readChain()).slice(3).map(({ id }) => id), ids);
  });

  it("seals nothing twice where the requests were made again under other numbers", async () => {
    const ids = await signWithoutCommit(5);
    await asSuperuser(`WITH taken AS (DELETE FROM seal_outbox RETURNING id, category, payload)
      INSERT INTO seal_outbox (id, category, payload) SELECT id, category, payload FROM taken ORDER BY id DESC`);
    await asSuperuser("DELETE FROM seal_requests WHERE id LIKE 'later-%'");
    sealing.go();
    await sealing.untilSealed(8);
    await sealing.sealer.request(anyRequest({ id: ids[0]! })); // it is known again
    await sealing.seal(1);
    assert.deepEqual((await readChain()).slice(3, 8).map(({ id }) => id), ids);
    const row = await sealing.app.asPlatform().first("SELECT count(*)::int AS n FROM seal_outbox");
    assert.equal(row!.n, 0);
  });

  it("drops a request that is sealed already, and goes on", async () => {
    await asSuperuser(`INSERT INTO seal_outbox (id, category, payload)
      SELECT id, category, convert_from(record, 'UTF8') FROM receipts WHERE position = 1`);
    sealing.go();
    await sealing.seal(2);
    assert.equal((await readChain()).length, 5);
  });

  for (
    const [name, change] of Object.entries({
      "has another receipt at the end": "UPDATE ledger_head SET hash = sha256('other')",
      "has receipts that were never signed": "UPDATE ledger_head SET size = 9",
    })
  ) {
    it(`seals nothing where the database ${name}, and says what to do`, async () => {
      await sealing.sealer.request(anyRequest({ id: "waiting" }));
      await asSuperuser(change);
      sealing.go();
      await assert.rejects(sealing.untilSealed(10), { name: "SealingHeld" });
      const trouble = await getSealingTrouble(sealing.app.asPlatform());
      assert.equal(trouble!.held, true);
      assert.match(trouble!.reason, /npm run (restore|verify) -- /);
      const { rows } = await sealing.app.pool.query("SELECT id FROM receipts WHERE position >= 3");
      assert.deepEqual(rows, []);
    });
  }

  it("seals nothing where the journal is gone, damaged, or older than the checkpoint", async () => {
    const folder = join(sealing.folder, "signer");
    const [name] = readdirSync(folder) as [string];
    const bytes = readFileSync(join(folder, name));
    const damaged = Buffer.from(bytes);
    damaged[bytes.length >> 1]! ^= 1;
    writeFileSync(join(folder, name), damaged);
    sealing.go();
    await assert.rejects(sealing.untilSealed(4), /damaged at byte .*npm run restore/);
    rmSync(folder, { recursive: true });
    sealing.go();
    await assert.rejects(sealing.untilSealed(4), /folder signer .* is missing/);
    assert.equal((await getHead(sealing.app)).size, 3);
  });

  /** Takes the newest receipts from the database, as an asynchronous failover does. */
  const loseFrom = (position: number) =>
    asSuperuser(`ALTER TABLE receipts DISABLE TRIGGER append_only;
      DELETE FROM receipts WHERE position >= ${position};
      DELETE FROM seal_requests WHERE id NOT IN (SELECT id FROM receipts);
      ALTER TABLE receipts ENABLE TRIGGER append_only;
      UPDATE ledger_head SET size = ${position},
        hash = (SELECT hash FROM receipts WHERE position = ${position} - 1)`);

  it("puts back what the database has lost, before it seals anything else", async () => {
    const before = (await readChain()).map(({ text }) => text);
    await loseFrom(1);
    const { id } = await sealing.sealer.request(anyRequest());
    sealing.go();
    await sealing.sealer.sealed(id);
    const after = await readChain();
    assert.deepEqual(after.slice(0, 3).map(({ text }) => text), before);
    assert.deepEqual(after.slice(3).map((receipt) => receipt.id), [id]);
    assert.equal(sealing.refills.length, 1);
    assert.match(
      sealing.refills[0]!,
      /came back with 1 receipts: the 2 after them .* \(2 test\).* receipts 1 to 2$/,
    );
    assert.equal(await getSealingTrouble(sealing.app.asPlatform()), undefined);
  });

  it("puts nothing back where the journal has kept less than is lost, and says what to do", async () => {
    await sealing.forgetCommitted();
    await loseFrom(2);
    sealing.go();
    await assert.rejects(sealing.untilSealed(4), /has not kept all of them.*npm run restore/);
    assert.equal((await getHead(sealing.app)).size, 2);
  });

  it("continues when what was wrong is right again", async () => {
    await asSuperuser("UPDATE ledger_head SET size = 4");
    sealing.go();
    await assert.rejects(sealing.untilSealed(5), { name: "SealingHeld" });
    await asSuperuser("UPDATE ledger_head SET size = 3");
    sealing.go();
    await sealing.seal(1);
    while (await getSealingTrouble(sealing.app.asPlatform())) await sleep(10);
    assert.equal((await readChain()).length, 4);
  });
});
