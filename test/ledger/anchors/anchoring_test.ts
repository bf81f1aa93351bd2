import assert from "node:assert/strict";
import { join } from "node:path";
import pg from "pg";
import { MAINNET, parseProof, verifyTimestamp } from "../../../ledger/anchors/ots/mod.ts";
import {
  advanceAnchor,
  ANCHOR_CONFIRMED,
  buildReceiptProof,
  exportReceipts,
  findReceipt,
  getAnchorTotals,
  getReceiptBytes,
  importLedger,
  openAnchors,
} from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { type AnchorSetup, startAnchoring } from "./_setup.ts";
import { hashOf, sha256, TEST_NETWORK } from "./ots/_chain.ts";

const VECTOR = join(import.meta.dirname, "..", "..", "vectors", "mixed-era-chain.json");

/** Positions at the edges of subtrees, and between them. */
const SAMPLES = [0, 1, 500, 1023, 1024, 1025, 2047, 2048, 2300, 2499];

describe("anchoring", () => {
  let setup: AnchorSetup;
  before(async () => {
    setup = await startAnchoring();
  });
  after(() => setup?.stop());
  afterEach(() => setup.heal());

  it("proves any of 2,500 receipts by a block with six confirmations at two sources", async () => {
    const { chain, calendars, parts, ledger: { app: store } } = setup;
    const batch = await setup.openBatch(2499);
    const [receipt] = await exportReceipts(store, { from: batch, to: batch + 1 });
    await assert.rejects(buildReceiptProof(store, receipt!), { name: "NotFound" });

    assert.deepEqual((await advanceAnchor(parts, batch)).state, "pending");
    assert.match((await advanceAnchor(parts, batch)).error!, /: not in a block yet/);
    assert.deepEqual(
      calendars.map(({ accepted }) => accepted.length),
      [1, 1],
      "submitted once to each calendar",
    );
    for (const position of SAMPLES) {
      const states = (await setup.verifyProof(position)).map(({ state }) => state);
      assert.deepEqual(states, ["pending", "pending"]);
    }
    const height = calendars[0].commit(chain);
    chain.bury(4);
    const early = await advanceAnchor(parts, batch);
    assert.equal(early.state, "pending");
    assert.match(early.error!, /source 1: block 1 has 5 confirmations of 6/);
    chain.bury(1);
    assert.deepEqual(await advanceAnchor(parts, batch), {
      state: "confirmed",
      error: null,
      blockHeight: height,
    });
    for (const position of SAMPLES) {
      const states = (await setup.verifyProof(position)).map(({ state }) => state);
      assert.deepEqual(states.toSorted(), ["pending", "pending", "verified"]);
    }
    assert.equal((await setup.readRow(batch)).block_hash, hashOf(chain.headers[height]!));
    assert.equal((await getAnchorTotals(store)).anchoredReceipts, 2500);
  });

  it("seals one receipt of a confirmation, and opens no batch of only such receipts", async () => {
    const { parts, ledger: { app: store, sealer } } = setup;
    const { rows: [{ id }] } = await store.pool.query(
      "SELECT id FROM seal_requests WHERE id NOT LIKE 'receipt-%' AND request_hash <> sha256('')",
    );
    await sealer.sealed(id);
    const { category, subject, details } = JSON.parse((await findReceipt(store, id)).text);
    const row = await setup.readRow(0);
    assert.deepEqual([category, subject], [ANCHOR_CONFIRMED, "0-2499"]);
    assert.equal(details.root, row.root.toString("hex"));
    assert.deepEqual([details.block_hash, details.sources], [row.block_hash, 2]);
    assert.deepEqual(await openAnchors(store), []);
    assert.equal((await advanceAnchor(parts, 0)).state, "confirmed");
    assert.equal((await getAnchorTotals(store)).confirmedBatches, 1);
  });

  it("puts each receipt into one batch when batches are opened and advanced in parallel", async () => {
    const { calendars, parts, ledger } = setup;
    const atOnce = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 4 }, work));
    await ledger.seal(3);
    const opened = await atOnce(() => openAnchors(ledger.app));
    const batch = opened[0]![0]!.first;
    for (const batches of opened) assert.deepEqual(batches, opened[0]);
    for (const { accepted } of calendars) accepted.length = 0;
    await atOnce(() => advanceAnchor(parts, batch));
    const results = await setup.verifyProof(batch);
    const given = calendars.reduce((sum, { accepted }) => sum + accepted.length, 0);
    assert.ok(given >= 2);
    assert.equal(results.length, given, "every promise is stored");
    setup.confirmAll();
    const ends = await atOnce(() => advanceAnchor(parts, batch));
    assert.deepEqual(new Set(ends.map(({ state }) => state)), new Set(["confirmed"]));
    const { rows } = await ledger.app.pool.query("SELECT first, last FROM anchors ORDER BY 1");
    rows.reduce((next, { first, last }) => {
      assert.equal(Number(first), next);
      return Number(last) + 1;
    }, 0);
    const { anchoredReceipts, nextPosition } = await getAnchorTotals(ledger.app);
    assert.equal(anchoredReceipts, nextPosition);
  });

  it("lets receipts wait while no calendar has accepted the last batch", async () => {
    const { calendars, parts, ledger: { app: store, seal } } = setup;
    for (const { faults } of calendars) faults.digest = (response) => response.destroy();
    const batch = await setup.openBatch(2);
    assert.equal((await advanceAnchor(parts, batch)).state, "open");
    await seal(3);
    assert.deepEqual((await openAnchors(store)).map(({ first }) => first), [batch]);
    setup.heal();
    await advanceAnchor(parts, batch);
    const [, later] = await openAnchors(store);
    assert.ok(later!.last - later!.first >= 2);
    await advanceAnchor(parts, later!.first);
    setup.confirmAll();
    for (const { first } of await openAnchors(store)) {
      assert.equal((await advanceAnchor(parts, first)).state, "confirmed");
    }
  });

  it("submits a batch again after three days, and keeps the old promises", async () => {
    const { calendars, parts, ledger: { app: store } } = setup;
    const batch = await setup.openBatch(1);
    for (const { accepted } of calendars) accepted.length = 0;
    await advanceAnchor(parts, batch);
    await store.asPlatform().execute(
      "UPDATE anchors SET submitted_at = now() - interval '73 hours' WHERE first = $1",
      [batch],
    );
    await advanceAnchor(parts, batch);
    await advanceAnchor(parts, batch);
    assert.deepEqual(calendars.map(({ accepted }) => accepted.length), [2, 2]);
    assert.equal((await setup.verifyProof(batch)).length, 4);
    setup.confirmAll();
    assert.equal((await advanceAnchor(parts, batch)).state, "confirmed");
  });

  it("reports that calendars or sources are not configured", async () => {
    const { parts } = setup;
    const batch = await setup.openBatch(1);
    const noCalendars = await advanceAnchor({ ...parts, calendars: [] }, batch);
    assert.deepEqual([noCalendars.state, noCalendars.error], ["open", "no calendar is configured"]);
    await advanceAnchor(parts, batch);
    setup.confirmAll();
    const noSources = await advanceAnchor({ ...parts, sources: [] }, batch);
    assert.deepEqual([noSources.state, noSources.error], [
      "pending",
      "No source of block headers is configured",
    ]);
    await advanceAnchor(parts, batch);
  });

  it("rejects blocks of another network, whose work is too small for Bitcoin", async () => {
    const { parts } = setup;
    const batch = await setup.openBatch(1);
    await advanceAnchor(parts, batch);
    setup.confirmAll();
    const network = { ...MAINNET, reachedHeight: 0 };
    const { state, error } = await advanceAnchor({ ...parts, network }, batch);
    assert.equal(state, "pending");
    assert.match(error!, /bits 0x1f7fffff\) is easier than Bitcoin can have had/);
    await advanceAnchor(parts, batch);
  });

  it("rejects old blocks, whose little work could be redone today", async () => {
    const { parts, chain } = setup;
    const batch = await setup.openBatch(1);
    await advanceAnchor(parts, batch);
    setup.confirmAll();
    const network = { ...TEST_NETWORK, reachedHeight: chain.headers.length };
    const { state, error } = await advanceAnchor({ ...parts, network }, batch);
    assert.equal(state, "pending");
    assert.match(error!, /it attests block \d+, which is older than the receipts/);
    const { error: onMainnet } = await advanceAnchor({ ...parts, network: MAINNET }, batch);
    assert.match(onMainnet!, /older than the receipts/);
    await advanceAnchor(parts, batch);
  });

  it("is protected by the database: no second batch of a receipt, no other root, no return to pending", async () => {
    const { ledger: { database } } = setup;
    const client = new pg.Client({ connectionString: database.urls.worker });
    await client.connect();
    const again = "INSERT INTO anchors (first, last, root, subroots) VALUES (7, 8, sha256(''), '')";
    const other = "UPDATE anchors SET root = sha256('')";
    const back = "UPDATE anchors SET state = 'pending', block_header = NULL";
    try {
      await assert.rejects(client.query(again), /exclusion constraint/);
      await assert.rejects(client.query(other), /permission denied/);
      await assert.rejects(client.query(back), /UPDATE is refused/);
      await assert.rejects(client.query("DELETE FROM anchors"), /permission denied/);
    } finally {
      await client.end();
    }
  });

  it("refuses a proof for a batch whose receipts a superuser has changed", async () => {
    const { ledger: { database, app: store } } = setup;
    const client = new pg.Client({ connectionString: database.superuserUrl });
    await client.connect();
    await client.query("ALTER TABLE receipts DISABLE TRIGGER append_only");
    await client.query("UPDATE receipts SET hash = sha256('') WHERE position = 5");
    await client.end();
    for (const position of [4, 5, 6]) {
      const [receipt] = await exportReceipts(store, { from: position, to: position + 1 });
      await assert.rejects(buildReceiptProof(store, receipt!), {
        name: "Conflict",
        message: /changed/,
      });
    }
    const [far] = await exportReceipts(store, { from: 2000, to: 2001 });
    await buildReceiptProof(store, far!);
  });
});

describe("anchoring an imported ledger", () => {
  let setup: AnchorSetup;
  before(async () => {
    setup = await startAnchoring({ isNew: false });
  });
  after(() => setup?.stop());

  it("proves the published bytes of receipts of every era", async () => {
    const { parts, ledger } = setup;
    const sequencer = openStore(ledger.database.urls.sequencer, "sequencer");
    await importLedger(sequencer, VECTOR, { threads: 1 });
    await sequencer.close();
    const [batch] = await openAnchors(ledger.app);
    await advanceAnchor(parts, batch!.first);
    setup.confirmAll();
    assert.equal((await advanceAnchor(parts, batch!.first)).state, "confirmed");
    const receipts = await exportReceipts(ledger.app, { from: 0, to: 100 });
    assert.deepEqual(new Set(receipts.map(({ era }) => era)), new Set([1, 2, 3]));
    const headers = new Map(setup.chain.headers.map((header, height) => [height, header]));
    for (const receipt of receipts) {
      const { digest, timestamp } = parseProof(await buildReceiptProof(ledger.app, receipt));
      const bytes = await getReceiptBytes(ledger.app, receipt.position);
      assert.deepEqual(Buffer.from(digest), sha256(bytes));
      const states = verifyTimestamp(timestamp, digest, headers, TEST_NETWORK);
      assert.ok(states.some(({ state }) => state === "verified"), `#${receipt.position}`);
      if (receipt.era < 3) assert.equal(Buffer.from(bytes).toString(), receipt.text);
    }
  });
});
