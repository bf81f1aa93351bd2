import assert from "node:assert/strict";
import { findReceipt } from "../../../ledger/receipts/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { anyRequest, serveLedger, startSealing, type TestSealing } from "../_ledger.ts";

describe("a receipt that was requested and is not sealed yet", () => {
  let sealing: TestSealing;
  let ledger: Awaited<ReturnType<typeof serveLedger>>;
  let reader: Store;
  before(async () => {
    sealing = await startSealing();
    await sealing.seal(3);
    await sealing.pause();
    ledger = await serveLedger(sealing.database);
    reader = openStore(sealing.database.urls.ledger, "ledger");
  });
  after(async () => {
    await reader?.close();
    await ledger?.stop();
    await sealing?.stop();
  });
  const get = (path: string) => fetch(ledger.address + path);
  const request = async (id: string) => void await sealing.sealer.request(anyRequest({ id }));

  it("is waited for at every address", async () => {
    const ids = ["soon-verified", "soon-received", "soon-as-bytes"];
    await Promise.all(ids.map(request));
    const answers = Promise.all([
      get("/api/verify/soon-verified"),
      get("/api/receipt/soon-received"),
      get("/api/receipt/soon-as-bytes.bin"),
    ]);
    const found = findReceipt(sealing.app, "soon-verified");
    sealing.go();
    const [verified, received, bytes] = await answers;
    const { found: isFound, verified: holds } = await verified.json() as Record<string, unknown>;
    assert.deepEqual([verified.status, isFound, holds], [200, true, true]);
    assert.equal((await received.json() as Record<string, unknown>).found, true);
    assert.equal(bytes.status, 200);
    assert.equal((await found).id, "soon-verified");
    await sealing.pause();
  });

  it("is not called unknown where nothing seals: the answer is to ask again", async () => {
    await request("not-soon");
    const paths = ["/api/verify/not-soon", "/api/receipt/not-soon.bin"];
    const answers = await Promise.all(paths.map(get));
    for (const [n, answer] of answers.entries()) {
      const path = paths[n];
      assert.equal(answer.status, 503, path);
      assert.equal(answer.headers.get("retry-after"), "2");
      assert.match(
        await answer.text(),
        /Receipt not-soon is requested and not sealed yet; ask again/,
      );
    }
    const unknown = await get("/api/verify/never-asked-for");
    assert.deepEqual(await unknown.json(), { found: false, receipt: null });
  });

  it("is unknown once it was refused", async () => {
    await request("refused-one");
    const sequencer = openStore(sealing.database.urls.sequencer, "sequencer");
    await sequencer.pool.query(
      "INSERT INTO seal_refusals (id, reason) VALUES ('refused-one', 'a test')",
    );
    await sequencer.close();
    const answer = await get("/api/verify/refused-one");
    assert.deepEqual(await answer.json(), { found: false, receipt: null });
  });

  it("is unknown where somebody has removed it from the outbox", async () => {
    await request("removed-one");
    const sequencer = openStore(sealing.database.urls.sequencer, "sequencer");
    await sequencer.pool.query("DELETE FROM seal_outbox WHERE id = 'removed-one'");
    await sequencer.close();
    const answer = await get("/api/verify/removed-one");
    assert.deepEqual(await answer.json(), { found: false, receipt: null });
  });

  it("shows the public ledger's role its id alone", async () => {
    for (const table of ["seal_requests", "seal_outbox", "seal_refusals"]) {
      assert.ok((await reader.pool.query(`SELECT id FROM ${table}`)).rows.length > 0);
      await assert.rejects(reader.pool.query(`SELECT * FROM ${table}`), /permission denied/);
    }
  });
});
