import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startPostgres } from "../../../embedded/mod.ts";
import { claimDataFolder } from "../../../embedded/mod.ts";
import { withinOneDay } from "../../_time.ts";
import { eventually } from "../../workflows/_story.ts";
import {
  exportReceipts,
  findReceipt,
  getHead,
  listLedgerKeys,
  openSealer,
  requestSeal,
  runSequencer,
  type Sealer,
  sealTogether,
  verifyChain,
  watchChain,
} from "../../../ledger/mod.ts";
import {
  decisionRow,
  governanceInForce,
  lettingIn,
  migrate,
  openStore,
  type Store,
} from "../../../store/mod.ts";
import { freePort, type TestDatabase, testDatabase, testFolder } from "../../_servers.ts";

const request = (id?: string) => ({
  ...(id ? { id } : {}),
  category: "test",
  actor: "tester",
  subject: "subject",
  action: "act",
  outcome: "ok",
  details: { n: 1.5 },
});

describe("the sequencer", () => {
  let database: TestDatabase;
  let folder: string;
  let app: Store;
  let sequencer: Store;
  let sealer: Sealer;
  let stop: AbortController;
  let running: Promise<void>;

  before(async () => {
    [database, folder] = await Promise.all([testDatabase(), testFolder()]);
    app = openStore(database.urls.app, "app");
    sequencer = openStore(database.urls.sequencer, "sequencer");
    sealer = await openSealer(app);
    stop = new AbortController();
    running = runSequencer({
      store: sequencer,
      keyFile: join(folder, "ledger.key"),
      signal: stop.signal,
    });
  });
  after(async () => {
    stop.abort();
    await running;
    await sealer.close();
    await Promise.all([app.close(), sequencer.close()]);
    await database.drop();
  });

  it("seals what was asked for within a transaction that committed, and nothing of one that did not", async () => {
    const { id } = await app.asPlatform().transaction((trx) => requestSeal(trx, request("kept")));
    await assert.rejects(
      app.asPlatform().transaction(async (trx) => {
        await requestSeal(trx, request("lost"));
        throw new Error("rolled back");
      }),
    );
    await sealer.sealed(id);
    await sealer.request(request("after"));
    await sealer.sealed("after");
    await assert.rejects(findReceipt(app, "lost-and-not-found"), { name: "ReceiptNotFound" });
    const ids = (await exportReceipts(app, { from: 0, to: 1000 })).map((receipt) => receipt.id);
    assert.ok(ids.includes("kept") && !ids.includes("lost"));
  });

  it("seals what was asked for early and committed late, after others of the meantime", async () => {
    await app.asPlatform().transaction(async (trx) => {
      await requestSeal(trx, request("late"));
      for (let n = 0; n < 5; n++) {
        const { id } = await sealer.request(request());
        await sealer.sealed(id);
        await sleep(600);
      }
    });
    const { position } = await sealer.sealed("late");
    assert.equal(position, (await getHead(app)).size - 1);
  });

  it("gives the same receipt for the same id and content, and refuses other content", async () => {
    await sealer.request({ ...request("twice"), evidence: { note: "salted anew each time" } });
    const first = await sealer.sealed("twice");
    await sealer.request({ ...request("twice"), evidence: { note: "salted anew each time" } });
    assert.deepEqual(await sealer.sealed("twice"), first);
    await assert.rejects(sealer.request({ ...request("twice"), outcome: "other" }), {
      name: "ReceiptConflict",
      message: /another outcome/,
    });
  });

  it("seals together with what else a statement does, and does neither where the id is taken", async () => {
    const done = (kind: string) => ({
      tables: "seen AS (INSERT INTO seal_requests VALUES (?, '') RETURNING id)",
      values: [kind],
      columns: "(SELECT count(*)::int FROM seen) AS seen",
    });
    const nothing = {
      tables: "none AS (SELECT WHERE false)",
      values: [],
      columns: "(SELECT count(*)::int FROM none) AS n",
    };
    const row = await sealTogether(app.asPlatform(), [done("a")], request("together"), "seen");
    assert.equal(row.seen, 1);
    const first = await sealer.sealed("together");
    await sealTogether(app.asPlatform(), [done("b")], request("together"));
    assert.deepEqual(await sealer.sealed("together"), first);
    await assert.rejects(
      sealTogether(app.asPlatform(), [done("c")], { ...request("together"), outcome: "other" }),
      { name: "ReceiptConflict" },
    );
    await sealTogether(app.asPlatform(), [nothing], request("not-together"), "none");
    const there = await app.asPlatform()("seal_requests").whereIn("id", [
      "a",
      "b",
      "c",
      "not-together",
    ])
      .orderBy("id").pluck("id");
    assert.deepEqual(there, ["a", "b"]);
  });

  it("takes no other failure of what goes together for an id that is taken", async () => {
    const broken = {
      tables: "none AS (SELECT WHERE false)",
      values: [],
      columns: "1 / (SELECT count(*) FROM none) AS nothing",
    };
    await assert.rejects(
      sealTogether(app.asPlatform(), [broken], request("together-again")),
      /division by zero/,
    );
  });

  it("is told of what nobody waits for, and once where one of several is waited for", async () => {
    const client = new pg.Client({ connectionString: database.urls.app });
    await client.connect();
    let told = 0;
    client.on("notification", () => told++);
    await client.query("LISTEN sealoop_outbox");
    const { id } = await sealer.request(request(), undefined, { patient: true });
    await eventually(() => Promise.resolve(told === 1 || undefined));
    await sealer.sealed(id);
    const both = [undefined, { patient: true }];
    await Promise.all(both.map((options) => sealer.request(request(), undefined, options)));
    await client.query("SELECT 1"); // what was told before this has arrived with it
    assert.equal(told, 2);
    await client.end();
  });

  it("takes what nobody waits for together, with more that comes meanwhile", async () => {
    const began = performance.now();
    const ids: string[] = [];
    for (let n = 0; n < 60; n++) {
      ids.push((await sealer.request(request(), undefined, { patient: true })).id);
    }
    await Promise.all(ids.map((id) => sealer.sealed(id)));
    const tenths = (performance.now() - began) / 100;
    const { rows: [{ batches }] } = await app.pool.query(
      "SELECT count(DISTINCT xmin::text)::int AS batches FROM receipts WHERE id = ANY ($1)",
      [ids],
    );
    const most = tenths + tenths / 10 + 3; // it is told once in each, and looks once a second by itself
    assert.ok(batches <= most, `${batches} batches in ${tenths} tenths of a second`);
  });

  it("is asked in one statement for all that is asked for in one turn of the event loop", async () => {
    await Promise.all([0, 3, 30].map(async (later) => {
      for (let n = 0; n < later; n++) await undefined;
      if (later === 30) await new Promise<void>((resolve) => process.nextTick(resolve));
      await sealer.request(request(`turn-${later}`));
    }));
    const { rows: [row] } = await app.pool.query(
      `SELECT count(*)::int AS asked, count(DISTINCT xmin::text)::int AS statements
       FROM seal_requests WHERE id LIKE 'turn-%'`,
    );
    assert.deepEqual(row, { asked: 3, statements: 1 });
  });

  describe("with a row of another table", () => {
    /** A decision of governance; what it decides is checked by the database. */
    const decision = (id: string, fields: { decision?: string; reason?: string } = {}) =>
      decisionRow({
        ...{ id, tenant: "t", keyId: "k", principal: "p", door: "mcp", tool: "x", operation: "x" },
        ...{ effect: "write", rule: "r", policyVersion: "0", dryRun: false, runs: true },
        decision: (fields.decision ?? "allow") as "allow",
        reasons: [fields.reason ?? "äöü 'quoted' \\ {,}"],
        ...{ approvalId: null, receiptId: id, callReceiptId: null, holder: null },
      });
    const rows = () =>
      app.asPlatform()("governance_decisions").whereLike("id", "row-%").orderBy("id").pluck("id");

    it("writes both for all that ask at once, with those that have no row", async () => {
      const ids = Array.from({ length: 200 }, (_, n) => `row-${String(n).padStart(3, "0")}`);
      await Promise.all(
        ids.map((id, n) => sealer.request(request(id), n % 3 ? decision(id) : undefined)),
      );
      assert.deepEqual(await rows(), ids.filter((_, n) => n % 3));
      const [row] = await app.asPlatform()("governance_decisions").where("id", "row-001");
      assert.deepEqual(row.reasons, ["äöü 'quoted' \\ {,}"]);
      await Promise.all(ids.map((id) => sealer.sealed(id)));
      await app.asPlatform()("governance_decisions").delete();
    });

    it("writes neither where the row can't be written, and all that was asked for beside it", async () => {
      const ids = Array.from({ length: 30 }, (_, n) => `row-b-${String(n).padStart(2, "0")}`);
      const bad = new Map([[ids[7], { decision: "maybe" }], [ids[20], { reason: "nul: \0" }]]);
      const asked = await Promise.allSettled(
        ids.map((id) => sealer.request(request(id), decision(id, bad.get(id)))),
      );
      assert.deepEqual(asked.flatMap(({ status }, n) => status === "rejected" ? [n] : []), [7, 20]);
      const good = ids.filter((id) => !bad.has(id));
      assert.deepEqual(await rows(), good);
      const there = await app.asPlatform()("seal_requests").whereIn("id", ids).orderBy("id").pluck(
        "id",
      );
      assert.deepEqual(there, good);
      await app.asPlatform()("governance_decisions").delete();
    });

    it("writes neither where its condition does not hold, and all that holds beside it", async () => {
      await withinOneDay(60); // it counts by the day
      const ids = Array.from({ length: 40 }, (_, n) => `row-w-${String(n).padStart(2, "0")}`);
      const use = { subject: "limited", kind: "test", limit: 15, periodSeconds: 86_400 };
      const now = await governanceInForce(app);
      const old = { ...now, revision: randomUUID() };
      const told = await Promise.all(ids.map(async (id, n) => {
        const { condition, read } = lettingIn(
          n % 4 === 0 ? old : now,
          n % 4 === 1 ? undefined : use,
        );
        const { holds, found } = await sealer.request(
          request(id),
          n % 4 === 3 ? undefined : decision(id),
          n % 4 === 3 ? {} : { when: condition },
        );
        return { holds, ...read(found) };
      }));
      const heldOf = (kind: number) =>
        told.filter((_, n) => n % 4 === kind).map(({ holds }) => holds);
      assert.deepEqual(new Set(heldOf(0)), new Set([false]), "decided by what is not in force");
      assert.deepEqual(told[0]!.inForce, now);
      assert.deepEqual(new Set(heldOf(1)), new Set([true]), "nothing to count");
      assert.equal(heldOf(2).filter(Boolean).length, 10, "within a limit of 15");
      assert.deepEqual(new Set(heldOf(3)), new Set([true]), "nothing to ask");
      const written = ids.filter((_, n) => told[n]!.holds);
      assert.deepEqual(await rows(), written.filter((id) => Number(id.slice(-2)) % 4 !== 3));
      const there = await app.asPlatform()("seal_requests").whereLike("id", "row-w-%").orderBy("id")
        .pluck(
          "id",
        );
      assert.deepEqual(there, written);
      const { condition, read } = lettingIn(now, { ...use, limit: 10 });
      const over = await sealer.request(request("row-x"), decision("row-x"), { when: condition });
      assert.equal(over.holds, false);
      const { count } = read(over.found);
      assert.deepEqual([count?.allowed, count?.remaining], [false, 0]);
      await app.asPlatform()("governance_decisions").delete();
    });

    it("writes no second row with a receipt that is there, nor with one that is taken", async () => {
      await sealer.request(request("row-c"), decision("row-c"));
      await sealer.request(request("row-c"), decision("row-d"));
      await assert.rejects(
        sealer.request({ ...request("row-c"), outcome: "other" }, decision("row-e")),
        { name: "ReceiptConflict" },
      );
      assert.deepEqual(await rows(), ["row-c"]);
    });
  });

  it("refuses, by name, what can't be sealed", async () => {
    await assert.rejects(sealer.request({ ...request(), subject: "" }), /subject/);
    await assert.rejects(sealer.request({ ...request(), details: { x: "\ud800" } }), /surrogate/);
    await assert.rejects(
      sealer.request({ ...request(), details: { x: "y".repeat(300_000) } }),
      /262144/,
    );
    await assert.rejects(sealer.request({ ...request(), timestamp: "yesterday" }), /ISO 8601/);
  });

  it("makes a chain that verifies, from 256 callers at once", async () => {
    await Promise.all(Array.from({ length: 256 }, async () => {
      const { id } = await sealer.request(request());
      await sealer.sealed(id);
    }));
    const receipts = await exportReceipts(app, { from: 0, to: 10_000 });
    const { total, breaks } = await verifyChain(
      receipts.map(({ text }) => text),
      await listLedgerKeys(app),
    );
    assert.deepEqual({ total, breaks }, { total: (await getHead(app)).size, breaks: [] });
    assert.ok(total >= 256);
  });

  for (
    const sql of ["UPDATE receipts SET category = 'x'", "DELETE FROM receipts", "TRUNCATE receipts"]
  ) {
    it(`finds the database refusing ${sql.split(" ")[0]} on receipts to every role`, async () => {
      for (const url of Object.values(database.urls)) {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await assert.rejects(client.query(sql), /append-only|permission denied/);
        await client.end();
      }
    });
  }

  it("shows the public ledger's role nothing private", async () => {
    const client = new pg.Client({ connectionString: database.urls.ledger });
    await client.connect();
    for (const table of ["seal_outbox", "seal_requests", "evidence", "keys", "tickets"]) {
      await assert.rejects(client.query(`SELECT * FROM ${table}`), /permission denied/);
    }
    await client.end();
  });

  it("lets no second one work", async () => {
    const second = openStore(database.urls.sequencer, "sequencer");
    const keyFile = join(folder, "ledger.key");
    const signal = AbortSignal.timeout(60_000);
    await assert.rejects(runSequencer({ store: second, keyFile, signal }), {
      name: "SequencerBusy",
    });
    await second.close();
  });

  it("is found out when a superuser edits a receipt behind its back", async () => {
    const client = new pg.Client({ connectionString: database.superuserUrl });
    await client.connect();
    await client.query("ALTER TABLE receipts DISABLE TRIGGER append_only");
    await client.query(
      `UPDATE receipts SET record = convert_to(replace(convert_from(record, 'UTF8'), 'subject"', 'subjekt"'), 'UTF8')
       WHERE position = 2`,
    );
    await client.end();
    const ledger = openStore(database.urls.ledger, "ledger");
    const watch = await watchChain(ledger);
    const { chain_intact, first_breaks } = await watch.catchUp();
    assert.equal(chain_intact, false);
    assert.equal(first_breaks[0]?.position, 2);
    await watch.close();
    await ledger.close();
  });
});

describe("two sequencers at work by force", () => {
  it("can't fork the chain: what one has done, the other is refused", async () => {
    const [{ urls, drop }, folder] = await Promise.all([testDatabase(), testFolder()]);
    const app = openStore(urls.app, "app");
    const store = openStore(urls.sequencer, "sequencer");
    const sealer = await openSealer(app);
    const stop = new AbortController();
    const options = { store, keyFile: join(folder, "ledger.key"), signal: stop.signal };
    const both = [1, 2].map(() =>
      runSequencer({ ...options, withoutLock: true }).then(() => "ended", (error) => String(error))
    );
    let met = false;
    Promise.race(both).then(() => met = true);
    const asked: string[] = [];
    while (asked.length < 100 || !met) asked.push((await sealer.request(request())).id);
    stop.abort();
    const ends = await Promise.all(both);
    assert.ok(ends.some((end) => /another sequencer is at work/.test(end)), ends.join());

    const alone = new AbortController();
    const running = runSequencer({ ...options, signal: alone.signal });
    await Promise.all(asked.map((id) => sealer.sealed(id)));
    const receipts = await exportReceipts(app, { from: 0, to: 10_000 });
    const { breaks } = await verifyChain(
      receipts.map(({ text }) => text),
      await listLedgerKeys(app),
    );
    assert.deepEqual(breaks, []);
    assert.equal(receipts.length, asked.length);
    alone.abort();
    await running;
    await sealer.close();
    await Promise.all([app.close(), store.close()]);
    await drop();
  });
});

describe("PostgreSQL killed with -9 while 64 callers seal", () => {
  it("has every acknowledged receipt once, and a whole chain", async () => {
    const data = await testFolder();
    const port = await freePort();
    const tree = await claimDataFolder(data);
    let server = await startPostgres(data, port, tree);
    const { urls } = server;
    const owner = openStore(urls.owner, "owner");
    await migrate(owner);
    const app = openStore(urls.app, "app", 20);
    const sequencer = openStore(urls.sequencer, "sequencer");
    const keyFile = join(data, "ledger.key");
    const stop = new AbortController();
    let running = runSequencer({ store: sequencer, keyFile, signal: stop.signal }).catch(() => {});
    const sealer = await openSealer(app);
    const acknowledged: string[] = [];
    let down = false;
    const callers = Array.from({ length: 64 }, async () => {
      while (!down) {
        const { id } = await sealer.request(request());
        acknowledged.push(id);
      }
    });
    while (acknowledged.length < 1_000) await sleep(10);
    process.kill(server.process.pid, "SIGKILL");
    down = true;
    await Promise.allSettled(callers);
    await server.ended;
    await running;

    server = await startPostgres(data, port, tree);
    running = runSequencer({ store: sequencer, keyFile, signal: stop.signal });
    await Promise.all(acknowledged.map((id) => sealer.sealed(id)));
    const receipts = await exportReceipts(app, { from: 0, to: 1_000_000 });
    const { breaks } = await verifyChain(
      receipts.map(({ text }) => text),
      await listLedgerKeys(app),
    );
    assert.deepEqual(breaks, []);
    const ids = receipts.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(acknowledged.every((id) => ids.includes(id)));

    stop.abort();
    await running;
    await sealer.close();
    await Promise.all([app.close(), sequencer.close(), owner.close()]);
    await server.stop();
    await tree.stop();
    await tree.release();
  });
});
