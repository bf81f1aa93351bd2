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
    /** Asks for receipts before they are sealed. @returns undefined where sealing took longer than is waited */
    const askEarly = async (n: number) => {
      const ids = [`soon-verified-${n}`, `soon-received-${n}`, `soon-as-bytes-${n}`];
      await Promise.all(ids.map(request));
      const paths = ["/api/verify/$", "/api/receipt/$", "/api/receipt/$.bin"];
      const answers = Promise.all(paths.map((path, n) => get(path.replace("$", ids[n]!))));
      const found = findReceipt(sealing.app, ids[0]!).catch((error) => {
        if (error.name !== "Unavailable") throw error;
      });
      sealing.go();
      const [verified, received, bytes] = await answers as [Response, Response, Response];
      const isLate = (await answers).some(({ status }) => status === 503) || !await found;
      await Promise.all(ids.map((id) => sealing.sealer.sealed(id)));
      await sealing.pause();
      return isLate ? undefined : { verified, received, bytes, id: (await found)!.id };
    };
    let asked: Awaited<ReturnType<typeof askEarly>>;
    for (let n = 0; !asked; n++) asked = await askEarly(n);
    const { verified, received, bytes, id } = asked;
    const { found: isFound, verified: holds } = await verified.json() as Record<string, unknown>;
    assert.deepEqual([verified.status, isFound, holds], [200, true, true]);
    assert.equal((await received.json() as Record<string, unknown>).found, true);
    assert.equal(bytes.status, 200);
    assert.match(id, /^soon-verified-/);
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
