import assert from "node:assert/strict";
import pg from "pg";
import {
  exportReceipts,
  formatReceiptTime,
  getHead,
  getSealState,
  openSealer,
  prepareRequest,
  requestSeal,
  requestSeals,
} from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { anyRequest, startSealing, type TestSealing } from "../_ledger.ts";
import { placed } from "../hostile/_places.ts";
import { asSuperuser } from "../../_superuser.ts";

describe("requestSeal()", () => {
  let sealing: TestSealing;
  before(async () => {
    sealing = await startSealing();
  });
  after(() => sealing?.stop());
  const db = () => sealing.app.asPlatform();
  const sealed = (id: string) => sealing.sealer.sealed(id);
  const stateOf = async (id: string) => (await getSealState(db(), id))?.state;

  it("seals with the caller's transaction, and nothing where that is rolled back", async () => {
    const { id } = await db().transaction((trx) => requestSeal(trx, anyRequest({ id: "kept" })));
    await assert.rejects(
      db().transaction(async (trx) => {
        await requestSeal(trx, anyRequest({ id: "lost" }));
        throw new Error("rolled back");
      }),
      /rolled back/,
    );
    await sealed(id);
    assert.equal(await stateOf("kept"), "sealed");
    assert.equal(await stateOf("lost"), undefined);
  });

  it("seals early requests that commit late after those of the meantime", async () => {
    await db().transaction(async (trx) => {
      await requestSeal(trx, anyRequest({ id: "late" }));
      for (let n = 0; n < 5; n++) await sealed((await sealing.sealer.request(anyRequest())).id);
    });
    const { position } = await sealed("late");
    assert.equal(position, (await getHead(sealing.app)).size - 1);
  });

  it("is the same receipt for the same id and content", async () => {
    const request = anyRequest({ id: "twice", evidence: { note: "salted anew each time" } });
    await requestSeal(db(), request);
    await requestSeal(db(), request); // while it may still be queued
    const first = await sealed("twice");
    await requestSeal(db(), request);
    assert.deepEqual(await sealed("twice"), first);
  });

  it("refuses other content under a taken id and rolls the transaction back", async () => {
    const conflict = { name: "ReceiptConflict", message: /receipt taken as .* another outcome/ };
    await requestSeal(db(), anyRequest({ id: "taken" }));
    for (const wait of [() => undefined, () => sealed("taken")]) {
      await wait();
      await assert.rejects(
        db().transaction(async (trx) => {
          await requestSeal(trx, anyRequest({ id: "beside" }));
          await requestSeal(trx, anyRequest({ id: "taken", outcome: "other" }));
        }),
        conflict,
      );
    }
    assert.equal(await stateOf("beside"), undefined);
  });

  it("names all fields in which the content differs", async () => {
    await requestSeal(db(), anyRequest({ id: "differs", evidence: { note: "a" } }));
    const other = anyRequest({ id: "differs", actor: "x", details: { n: 1 }, human_input: "y" });
    await assert.rejects(requestSeal(db(), other), {
      differsIn: ["actor", "human_input", "details"],
    });
    await assert.rejects(
      requestSeal(db(), anyRequest({ id: "differs", evidence: { note: "b" } })),
      /other content/,
    );
  });

  it("refuses what can't be sealed and names the field", async () => {
    const refused: [Parameters<typeof anyRequest>[0], RegExp][] = [
      [{ subject: "" }, /^subject/],
      [{ id: "no spaces" }, /^id/],
      [{ details: { x: "\ud800" } }, /^details: .*surrogate/],
      [{ evidence: { note: NaN } }, /^evidence\.note: NaN/],
      [{ evidence: { "\0": 1 } }, /^evidence: .*U\+0000/],
      [{ details: { x: "y".repeat(300_000) } }, /^details: .*262144/],
      [{ timestamp: "yesterday" }, /^timestamp: .*ISO 8601/],
    ];
    for (const [fields, message] of refused) {
      await assert.rejects(requestSeal(db(), anyRequest(fields)), {
        name: "InvalidInput",
        message,
      });
    }
  });

  it("is refused by the sequencer where no place has signed an act, or one that none enrols", async () => {
    const [, , enrolment, , intent] = placed.map((record) => JSON.parse(record));
    const request = (id: string, { place, place_signature, ...details }: typeof intent.details) =>
      anyRequest({
        id,
        category: intent.category,
        action: intent.action,
        outcome: intent.outcome,
        details: { ...details, ...(place ? { place, place_signature } : {}) },
      });
    const { place: _, ...unsigned } = intent.details;
    await requestSeal(db(), request("none-signs-yet", unsigned));
    await sealed("none-signs-yet");
    await requestSeal(db(), request("stranger", intent.details));
    await assert.rejects(sealed("stranger"), /was refused: .*no receipt before it enrols/);
    const { category, details } = enrolment;
    await requestSeal(db(), anyRequest({ id: "enrols", category, details }));
    await requestSeal(db(), request("signed", intent.details));
    await sealed("signed");
    const other = { ...intent.details, place: "0".repeat(64) };
    await requestSeal(db(), request("of-another", other));
    await assert.rejects(sealed("of-another"), /of-another was refused: .*has not signed/);
    await requestSeal(db(), request("unsigned", unsigned));
    await assert.rejects(sealed("unsigned"), /unsigned was refused: .*no place has signed/);
    const unmade = { category: "media_made", action: "media.make", outcome: "failed" };
    const toldByNone = { id: "VID-1", code: "Cancelled", state: "unknown" };
    await requestSeal(db(), anyRequest({ id: "unmade", ...unmade, details: toldByNone }));
    await sealed("unmade");
    await sealing.pause();
    sealing.go(); // it knows the places again
    await requestSeal(db(), request("unsigned-later", unsigned));
    await assert.rejects(sealed("unsigned-later"), /no place has signed/);
  });

  it("refuses a receipt that is dated more than 5 minutes from the database's clock", async () => {
    const after = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
    const wrong = ["2021-07-01T12:00:00Z", "2099-07-01T12:00:00+02:00", after(-6), after(6)];
    for (const [n, timestamp] of wrong.entries()) {
      const request = anyRequest({ id: `dated-${n}`, timestamp });
      const refused = {
        name: "ReceiptTimeRefused",
        message: /^Cannot seal receipt dated-\d: it is dated .*, and the database's clock says \d/,
      };
      await assert.rejects(requestSeal(db(), request), refused);
      await assert.rejects(sealing.sealer.request(request), refused);
      await assert.rejects(
        db().transaction((trx) => requestSeals(trx, [anyRequest(), request])),
        refused,
      );
      assert.equal(await stateOf(request.id!), undefined);
    }
    for (const timestamp of [after(-4), after(4)]) {
      const { id } = await requestSeal(db(), anyRequest({ timestamp }));
      await sealed(id);
    }
    const [right, other] = await Promise.allSettled([
      sealing.sealer.request(anyRequest()),
      sealing.sealer.request(anyRequest({ timestamp: wrong[0]! })),
    ]);
    assert.deepEqual([right.status, other.status], ["fulfilled", "rejected"]);
    // Under an id that is known nothing is added, so that a repeated request is what it was.
    await requestSeal(db(), anyRequest({ id: "known" }));
    await requestSeal(db(), anyRequest({ id: "known", timestamp: wrong[0]! }));
  });

  it("seals what has waited for days, by the time of its request", async () => {
    const then = new Date(Date.now() - 3 * 24 * 60 * 60_000);
    const put = async (id: string, dated: Date, requested: Date) => {
      const { payload, category } = prepareRequest(
        anyRequest({ id, timestamp: formatReceiptTime(dated) }),
      );
      const superuser = asSuperuser({ url: sealing.app.url });
      await superuser.query("INSERT INTO seal_requests (id, request_hash) VALUES ($1, '')", [id]);
      await superuser.query(
        "INSERT INTO seal_outbox (id, category, payload, at) VALUES ($1, $2, $3, $4)",
        [id, category, payload, requested],
      );
    };
    await put("waited", then, then);
    await put("backdated", then, new Date());
    await put("postdated", new Date(), then);
    await sealed("waited");
    for (const id of ["backdated", "postdated"]) {
      await assert.rejects(sealed(id), /was refused: It is dated .*, and was requested at/);
    }
  });

  describe("of several requests", () => {
    it("seals them in their order", async () => {
      const ids = Array.from({ length: 100 }, (_, n) => `several-${n * 7 % 100}`);
      const requested = await db().transaction((trx) =>
        requestSeals(trx, ids.map((id) => anyRequest({ id })))
      );
      assert.deepEqual(requested.map(({ id }) => id), ids);
      const receipts = await Promise.all(ids.map(sealed));
      const first = receipts[0]!.position;
      assert.deepEqual(receipts.map(({ position }) => position - first), [...ids.keys()]);
    });

    it("takes one that is there twice for one receipt, and refuses two of the same id", async () => {
      const once = anyRequest({ id: "same" });
      await requestSeals(db(), [once, once]);
      const { position } = await sealed("same");
      assert.equal(position, (await getHead(sealing.app)).size - 1);
      await assert.rejects(
        db().transaction((trx) =>
          requestSeals(trx, [
            anyRequest({ id: "alike" }),
            anyRequest({ id: "alike", action: "other" }),
          ])
        ),
        { name: "ReceiptConflict", message: /another action/ },
      );
      assert.equal(await stateOf("alike"), undefined);
    });

    it("requests none where one has a conflict", async () => {
      await assert.rejects(
        db().transaction((trx) =>
          requestSeals(trx, [
            anyRequest({ id: "fine" }),
            anyRequest({ id: "taken", outcome: "other" }),
          ])
        ),
        { name: "ReceiptConflict" },
      );
      assert.equal(await stateOf("fine"), undefined);
    });

    it("lets two callers with the same ids in other orders both commit", async () => {
      const ids = Array.from({ length: 200 }, (_, n) => `crossed-${n}`);
      const requests = ids.map((id) => anyRequest({ id }));
      await Promise.all(
        [requests, requests.toReversed(), requests, requests.toReversed()].map((list) =>
          db().transaction((trx) => requestSeals(trx, list))
        ),
      );
      await Promise.all(ids.map(sealed));
    });
  });
});

describe("the sealer", () => {
  let sealing: TestSealing;
  before(async () => {
    sealing = await startSealing();
  });
  after(() => sealing?.stop());

  it("seals what 256 callers request at once", async () => {
    const receipts = await Promise.all(Array.from({ length: 256 }, async () => {
      const { id } = await sealing.sealer.request(anyRequest());
      return await sealing.sealer.sealed(id);
    }));
    const stored = await exportReceipts(sealing.app, { from: 0, to: 1_000 });
    assert.equal(new Set(receipts.map(({ position }) => position)).size, 256);
    for (const { id, position, hash } of receipts) {
      assert.deepEqual([stored[position]!.id, stored[position]!.hash], [id, hash]);
    }
  });

  it("commits all requests of one turn of the event loop together", async () => {
    await Promise.all([0, 3, 30].map(async (later) => {
      for (let n = 0; n < later; n++) await undefined;
      if (later === 30) await new Promise<void>((resolve) => process.nextTick(resolve));
      await sealing.sealer.request(anyRequest({ id: `turn-${later}` }));
    }));
    const [row] = await sealing.app.asPlatform().query(
      `SELECT count(*)::int AS requests, count(DISTINCT xmin::text)::int AS transactions
       FROM seal_requests WHERE id LIKE 'turn-%'`,
    );
    assert.deepEqual(row, { requests: 3, transactions: 1 });
  });

  it("refuses one request of a batch by its conflict alone", async () => {
    await sealing.sealer.request(anyRequest({ id: "first" }));
    const results = await Promise.allSettled([
      sealing.sealer.request(anyRequest({ id: "before" })),
      sealing.sealer.request(anyRequest({ id: "first", outcome: "other" })),
      sealing.sealer.request(anyRequest({ id: "first" })),
    ]);
    assert.deepEqual(results.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
    assert.equal((results[1] as PromiseRejectedResult).reason.name, "ReceiptConflict");
  });

  it("requests the others of a batch where the database refuses one", async () => {
    const client = new pg.Client({ connectionString: sealing.database.superuserUrl });
    await client.connect();
    await client.query("ALTER TABLE evidence ADD CONSTRAINT refused CHECK (content <> '\"bad\"')");
    await client.end();
    const ids = Array.from({ length: 30 }, (_, n) => `batch-${n}`);
    const results = await Promise.allSettled(
      ids.map((id, n) =>
        sealing.sealer.request(anyRequest({ id, evidence: { note: n === 7 ? "bad" : "good" } }))
      ),
    );
    assert.deepEqual(results.flatMap(({ status }, n) => status === "rejected" ? [n] : []), [7]);
    await Promise.all(ids.filter((_, n) => n !== 7).map((id) => sealing.sealer.sealed(id)));
    assert.equal(await getSealState(sealing.app.asPlatform(), ids[7]!), undefined);
  });

  it("tells who waits that a receipt is not sealed in time, and when it is refused", async () => {
    await sealing.pause();
    const { id } = await sealing.sealer.request(anyRequest());
    await assert.rejects(sealing.sealer.sealed(id, { timeoutMs: 50 }), {
      name: "Unavailable",
      message: /not sealed within 50 ms/,
    });
    const stop = new AbortController();
    const waiting = sealing.sealer.sealed(id, { signal: stop.signal });
    stop.abort(new Error("no longer"));
    await assert.rejects(waiting, /no longer/);
    await asSuperuser(sealing.app).execute(
      "INSERT INTO seal_outbox (id, category, payload) VALUES ('bad', 'test', '{\"id\":\"other\"}')",
    );
    const refused = assert.rejects(sealing.sealer.sealed("bad"), {
      name: "InvalidInput",
      message: /bad was refused: .*not that of the request/,
    });
    sealing.go();
    await refused;
    await sealing.sealer.sealed(id);
  });

  it("seals at once what somebody waits for, and gathers what nobody waits for", async () => {
    const waitsMs: number[] = [];
    for (let n = 0; n < 200 && !(Math.min(...waitsMs) < 100); n++) {
      const began = performance.now();
      await sealing.sealer.sealed((await sealing.sealer.request(anyRequest())).id);
      waitsMs.push(performance.now() - began);
    }
    // Those that are gathered take 100 ms each, also on an idle machine.
    assert.ok(Math.min(...waitsMs) < 100, `each of 200 receipts took ${Math.min(...waitsMs)} ms`);

    const ids: string[] = [];
    const start = performance.now();
    for (let n = 0; n < 60; n++) ids.push((await sealing.sealer.request(anyRequest())).id);
    while (await countSealed(ids) < ids.length) await new Promise((done) => setTimeout(done, 5));
    const tenths = (performance.now() - start) / 100;
    const [row] = await sealing.app.asPlatform().query(
      "SELECT count(DISTINCT xmin::text)::int AS batches FROM receipts WHERE id = ANY ($1)",
      [ids],
    );
    assert.ok(
      row!.batches <= tenths + 3,
      `${row!.batches} batches in ${tenths} tenths of a second`,
    );
  });

  async function countSealed(ids: readonly string[]): Promise<number> {
    const [row] = await sealing.app.asPlatform().query(
      "SELECT count(*)::int AS n FROM receipts WHERE id = ANY ($1)",
      [ids],
    );
    return row!.n;
  }

  it("finds receipts that are requested in another process", async () => {
    const store = openStore(sealing.database.urls.worker, "worker");
    const other = await openSealer(store);
    const waiting = other.sealed("elsewhere");
    await sealing.sealer.request(anyRequest({ id: "elsewhere" }));
    assert.equal((await waiting).id, "elsewhere");
    await other.close();
    await store.close();
  });
});
