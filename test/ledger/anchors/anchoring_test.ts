import assert from "node:assert/strict";
import { join } from "node:path";
import pg from "pg";
import {
  advanceAnchor,
  ANCHOR_CONFIRMED,
  buildReceiptProof,
  exportReceipts,
  findReceipt,
  importLedger,
  openAnchors,
  readAnchorTotals,
  readReceiptBytes,
} from "../../../ledger/mod.ts";
import { MAINNET, parseProof, verifyTimestamp } from "../../../ledger/anchors/ots/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { type AnchorBench, anchorBench } from "./_anchoring.ts";
import { hashOf, sha256, TEST_NETWORK } from "./ots/_chain.ts";

const VECTOR = join(import.meta.dirname, "..", "vectors", "mixed-era-chain.json");

/** Positions at the edges of what is kept of a batch's tree, and between them. */
const SOME = [0, 1, 500, 1023, 1024, 1025, 2047, 2048, 2300, 2499];

describe("anchoring", () => {
  let bench: AnchorBench;
  before(async () => {
    bench = await anchorBench();
  });
  after(() => bench?.stop());
  afterEach(() => bench.heal());

  it("leads from any of 2,500 receipts to a block with six confirmations, by two sources", async () => {
    const { chain, calendars, anchoring, ledger: { app: store } } = bench;
    const batch = await bench.batchOf(2500);
    const [receipt] = await exportReceipts(store, { from: batch, to: batch + 1 });
    await assert.rejects(buildReceiptProof(store, receipt!), { name: "NotFound" });

    assert.deepEqual((await advanceAnchor(anchoring, batch)).state, "pending");
    assert.match((await advanceAnchor(anchoring, batch)).error!, /: not in a block yet/);
    assert.deepEqual(calendars.map(({ taken }) => taken.length), [1, 1], "given once to each");
    for (const position of SOME) {
      const states = (await bench.findings(position)).map(({ state }) => state);
      assert.deepEqual(states, ["pending", "pending"]);
    }
    const height = calendars[0].commit(chain);
    chain.bury(4);
    const early = await advanceAnchor(anchoring, batch);
    assert.equal(early.state, "pending");
    assert.match(early.error!, /source 1: block 1 has 5 confirmations of 6/);
    chain.bury(1);
    assert.deepEqual(await advanceAnchor(anchoring, batch), {
      state: "confirmed",
      error: null,
      blockHeight: height,
    });
    for (const position of SOME) {
      const states = (await bench.findings(position)).map(({ state }) => state);
      assert.deepEqual(states.toSorted(), ["pending", "pending", "verified"]);
    }
    assert.equal((await bench.rowOf(batch)).block_hash, hashOf(chain.headers[height]!));
    assert.equal((await readAnchorTotals(store)).anchoredReceipts, 2500);
  });

  it("seals that it did, once, and makes no batch of nothing but such receipts", async () => {
    const { anchoring, ledger: { app: store, sealer } } = bench;
    const { rows: [{ id }] } = await store.pool.query(
      "SELECT id FROM seal_requests WHERE id NOT LIKE 'receipt-%'",
    );
    await sealer.sealed(id);
    const { category, subject, details } = JSON.parse((await findReceipt(store, id)).text);
    const row = await bench.rowOf(0);
    assert.deepEqual([category, subject], [ANCHOR_CONFIRMED, "0-2499"]);
    assert.equal(details.root, row.root.toString("hex"));
    assert.deepEqual([details.block_hash, details.sources], [row.block_hash, 2]);
    assert.deepEqual(await openAnchors(store), []);
    assert.equal((await advanceAnchor(anchoring, 0)).state, "confirmed");
    assert.equal((await readAnchorTotals(store)).confirmedBatches, 1);
  });

  it("puts each receipt into one batch, however many make batches and attempts at once", async () => {
    const { calendars, anchoring, ledger } = bench;
    const atOnce = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 4 }, work));
    await ledger.seal(3);
    const opened = await atOnce(() => openAnchors(ledger.app));
    const batch = opened[0]![0]!.first;
    for (const batches of opened) assert.deepEqual(batches, opened[0]);
    for (const { taken } of calendars) taken.length = 0;
    await atOnce(() => advanceAnchor(anchoring, batch));
    const findings = await bench.findings(batch);
    const given = calendars.reduce((sum, { taken }) => sum + taken.length, 0);
    assert.ok(given >= 2);
    assert.equal(findings.length, given, "every promise is kept");
    bench.commitAll();
    const ends = await atOnce(() => advanceAnchor(anchoring, batch));
    assert.deepEqual(new Set(ends.map(({ state }) => state)), new Set(["confirmed"]));
    const { rows } = await ledger.app.pool.query("SELECT first, last FROM anchors ORDER BY 1");
    rows.reduce((next, { first, last }) => {
      assert.equal(Number(first), next);
      return Number(last) + 1;
    }, 0);
    const { anchoredReceipts, nextPosition } = await readAnchorTotals(ledger.app);
    assert.equal(anchoredReceipts, nextPosition);
  });

  it("lets receipts wait while no calendar has taken the batch before", async () => {
    const { calendars, anchoring, ledger: { app: store, seal } } = bench;
    for (const { faults } of calendars) faults.digest = (response) => response.destroy();
    const batch = await bench.batchOf(2);
    assert.equal((await advanceAnchor(anchoring, batch)).state, "open");
    await seal(3);
    assert.deepEqual((await openAnchors(store)).map(({ first }) => first), [batch]);
    bench.heal();
    await advanceAnchor(anchoring, batch);
    const [, later] = await openAnchors(store);
    assert.ok(later!.last - later!.first >= 2);
    await advanceAnchor(anchoring, later!.first);
    bench.commitAll();
    for (const { first } of await openAnchors(store)) {
      assert.equal((await advanceAnchor(anchoring, first)).state, "confirmed");
    }
  });

  it("gives a batch again to calendars that promised it three days ago, and keeps those promises", async () => {
    const { calendars, anchoring, ledger: { app: store } } = bench;
    const batch = await bench.batchOf(1);
    for (const { taken } of calendars) taken.length = 0;
    await advanceAnchor(anchoring, batch);
    await store.asPlatform()("anchors").where({ first: batch })
      .update({ submitted_at: store.asPlatform().raw("now() - interval '73 hours'") });
    await advanceAnchor(anchoring, batch);
    await advanceAnchor(anchoring, batch);
    assert.deepEqual(calendars.map(({ taken }) => taken.length), [2, 2]);
    assert.equal((await bench.findings(batch)).length, 4);
    bench.commitAll();
    assert.equal((await advanceAnchor(anchoring, batch)).state, "confirmed");
  });

  it("says what is missing where calendars or sources are not configured", async () => {
    const { anchoring } = bench;
    const batch = await bench.batchOf(1);
    const none = await advanceAnchor({ ...anchoring, calendars: [] }, batch);
    assert.deepEqual([none.state, none.error], ["open", "no calendar is configured"]);
    await advanceAnchor(anchoring, batch);
    bench.commitAll();
    const blind = await advanceAnchor({ ...anchoring, sources: [] }, batch);
    assert.deepEqual([blind.state, blind.error], [
      "pending",
      "No source of block headers is configured",
    ]);
    await advanceAnchor(anchoring, batch);
  });

  it("does not take blocks of another network for Bitcoin's, as their work is too small", async () => {
    const { anchoring } = bench;
    const batch = await bench.batchOf(1);
    await advanceAnchor(anchoring, batch);
    bench.commitAll();
    const network = { ...MAINNET, reached: 0 };
    const { state, error } = await advanceAnchor({ ...anchoring, network }, batch);
    assert.equal(state, "pending");
    assert.match(error!, /bits 0x1f7fffff\) is easier than Bitcoin can have had/);
    await advanceAnchor(anchoring, batch);
  });

  it("does not take blocks of long ago, whose little work could be done again today", async () => {
    const { anchoring, chain } = bench;
    const batch = await bench.batchOf(1);
    await advanceAnchor(anchoring, batch);
    bench.commitAll();
    const network = { ...TEST_NETWORK, reached: chain.headers.length };
    const { state, error } = await advanceAnchor({ ...anchoring, network }, batch);
    assert.equal(state, "pending");
    assert.match(error!, /it attests block \d+, which is older than the receipts/);
    const { error: bitcoins } = await advanceAnchor({ ...anchoring, network: MAINNET }, batch);
    assert.match(bitcoins!, /older than the receipts/);
    await advanceAnchor(anchoring, batch);
  });

  it("finds the database refusing a second batch of a receipt, another root, or to take a block back", async () => {
    const { ledger: { database } } = bench;
    const client = new pg.Client({ connectionString: database.urls.app });
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

  it("gives no proof of a batch whose receipts a superuser has changed", async () => {
    const { ledger: { database, app: store } } = bench;
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

describe("anchoring a ledger that was taken over", () => {
  let bench: AnchorBench;
  before(async () => {
    bench = await anchorBench();
  });
  after(() => bench?.stop());

  it("gives receipts of every era a proof of the bytes that are given for them", async () => {
    const { anchoring, ledger } = bench;
    await ledger.pause();
    const sequencer = openStore(ledger.database.urls.sequencer, "sequencer");
    await importLedger(sequencer, VECTOR, { threads: 1 });
    await sequencer.close();
    const [batch] = await openAnchors(ledger.app);
    await advanceAnchor(anchoring, batch!.first);
    bench.commitAll();
    assert.equal((await advanceAnchor(anchoring, batch!.first)).state, "confirmed");
    const receipts = await exportReceipts(ledger.app, { from: 0, to: 100 });
    assert.deepEqual(new Set(receipts.map(({ era }) => era)), new Set([1, 2, 3]));
    const headers = new Map(bench.chain.headers.map((header, height) => [height, header]));
    for (const receipt of receipts) {
      const { digest, timestamp } = parseProof(await buildReceiptProof(ledger.app, receipt));
      const bytes = await readReceiptBytes(ledger.app, receipt.position);
      assert.deepEqual(Buffer.from(digest), sha256(bytes));
      const states = verifyTimestamp(timestamp, digest, headers, TEST_NETWORK);
      assert.ok(states.some(({ state }) => state === "verified"), `#${receipt.position}`);
      if (receipt.era < 3) assert.equal(Buffer.from(bytes).toString(), receipt.text);
    }
  });
});
