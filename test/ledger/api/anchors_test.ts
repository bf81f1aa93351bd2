import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { OTS_TYPE, parseProof, verifyTimestamp } from "../../../ledger/anchors/ots/mod.ts";
import { advanceAnchor } from "../../../ledger/mod.ts";
import { serveLedger } from "../_ledger.ts";
import { type AnchorSetup, startAnchoring } from "../anchors/_setup.ts";
import { hashOf, TEST_NETWORK } from "../anchors/ots/_chain.ts";

describe("the public ledger on anchors", function () {
  let setup: AnchorSetup;
  let server: Awaited<ReturnType<typeof serveLedger>>;
  let batch: number;
  let height: number;
  const request = (path: string) => fetch(`${server.address.replace(/\/$/, "")}${path}`);
  // deno-lint-ignore no-explicit-any -- an response in JSON
  const json = async (path: string): Promise<any> => await (await request(path)).json();
  const bytes = async (path: string) => new Uint8Array(await (await request(path)).arrayBuffer());

  before(async () => {
    setup = await startAnchoring();
    server = await serveLedger(setup.ledger.database);
  });
  after(async () => {
    await server?.stop();
    await setup?.stop();
  });

  it("reports that nothing is anchored before the first batch", async () => {
    assert.deepEqual(await json("/api/anchors"), {
      anchored_receipts: 0,
      total_receipts: 1,
      anchored_share: 0,
      confirmed_anchors: 0,
      newest_block_height: null,
      pending: { batches: 0, receipts: 0, unbatched_receipts: 1, waiting: [] },
      samples: [],
    });
  });

  it("reports a receipt in no batch as unbatched, without a proof", async () => {
    await setup.ledger.seal(1);
    const { bitcoin_anchored, anchor } = await json("/api/receipt/receipt-000000");
    assert.deepEqual([bitcoin_anchored, anchor.state], [false, "unbatched"]);
    assert.deepEqual([anchor.block_height, anchor.proof_url], [null, null]);
    const response = await request("/api/receipt/receipt-000000.ots");
    assert.equal(response.status, 404);
    assert.match((await response.json() as { detail: string }).detail, /it is in no batch yet/);
    assert.equal((await json("/api/anchors")).pending.unbatched_receipts, 2);
  });

  it("reports the calendars of a pending batch, and what is missing", async () => {
    batch = await setup.openBatch(3);
    await advanceAnchor(setup.parts, batch);
    const { anchored_share, pending } = await json("/api/anchors");
    assert.equal(anchored_share, 0);
    assert.deepEqual([pending.batches, pending.receipts, pending.unbatched_receipts], [1, 5, 0]);
    const [waiting] = pending.waiting;
    assert.deepEqual([waiting.first, waiting.last, waiting.state], [0, 4, "pending"]);
    assert.match(waiting.last_error, /calendar 127\.0\.0\.1:\d+: not in a block yet/);
    assert.ok(!Number.isNaN(Date.parse(waiting.submitted_at)));
    const { bitcoin_anchored, anchor } = await json("/api/verify/receipt-000002");
    assert.deepEqual([bitcoin_anchored, anchor.state], [false, "pending"]);
    const { digest, timestamp } = parseProof(await bytes("/api/receipt/receipt-000002.ots"));
    const states = verifyTimestamp(timestamp, digest, new Map()).map(({ state }) => state);
    assert.deepEqual(states, ["pending", "pending"]);
  });

  it("counts anchored receipts, and shows height, hash, header and time of the block", async () => {
    height = setup.calendars[0].commit(setup.chain);
    setup.chain.bury(5);
    await advanceAnchor(setup.parts, batch);
    const { samples, ...counts } = await json("/api/anchors");
    assert.equal(counts.anchored_receipts, 5);
    assert.equal(counts.confirmed_anchors, 1);
    assert.equal(counts.newest_block_height, height);
    assert.equal(counts.anchored_share, 5 / counts.total_receipts);
    const [sample] = samples;
    const header = setup.chain.headers[height]!;
    assert.equal(sample.block_height, height);
    assert.equal(sample.block_header, header.toString("hex"));
    assert.equal(sample.block_hash, hashOf(header));
    assert.equal(Date.parse(sample.block_time) / 1000, header.readUInt32LE(68));
    assert.equal(sample.chain_position, 4);
    assert.match(sample.proof_url, new RegExp(`/api/receipt/${sample.receipt_id}\\.ots$`));
    const { bitcoin_anchored, anchor } = await json("/api/verify/receipt-000002");
    assert.equal(bitcoin_anchored, true);
    assert.equal(anchor.block_hash, sample.block_hash);
    await setup.ledger.seal(1); // this one is in no batch
    const { receipts } = await json("/api/receipts?limit=10");
    const anchored = receipts.map((receipt: { bitcoin_anchored: boolean }) =>
      receipt.bitcoin_anchored
    );
    assert.deepEqual(anchored.slice(-4), [true, true, true, true]);
    assert.equal(anchored[0], false);
  });

  it("returns bytes, and a proof that leads from them to the block's merkle root", async () => {
    const response = await request("/api/receipt/RECEIPT-000001.ots");
    assert.equal(response.headers.get("content-type"), OTS_TYPE);
    const name = response.headers.get("content-disposition");
    assert.equal(name, 'attachment; filename="receipt-000001.bin.ots"');
    const { digest, timestamp, hash } = parseProof(new Uint8Array(await response.arrayBuffer()));
    const content = await bytes("/api/receipt/receipt-000001.bin");
    assert.equal(hash, "sha256");
    assert.deepEqual(Buffer.from(digest), createHash("sha256").update(content).digest());
    const { receipt } = await json("/api/receipt/receipt-000001");
    assert.equal(Buffer.from(content).toString("hex"), receipt.canonical_bytes);
    const { block_header } = (await json("/api/anchors")).samples[0];
    const headers = new Map([[height, new Uint8Array(Buffer.from(block_header, "hex"))]]);
    const findings = verifyTimestamp(timestamp, digest, headers, TEST_NETWORK);
    assert.equal(findings.filter(({ state }) => state === "verified").length, 1);
  });

  it("answers 404 for unknown receipts, and 422 for ambiguous or short prefixes", async () => {
    for (const ending of ["ots", "bin"]) {
      assert.equal((await request(`/api/receipt/no-such-receipt.${ending}`)).status, 404);
      assert.equal((await request(`/api/receipt/receipt-.${ending}`)).status, 422);
      assert.equal((await request(`/api/receipt/abc.${ending}`)).status, 422);
      assert.equal((await request(`/api/receipt/${"x".repeat(200)}.${ending}`)).status, 422);
      assert.equal((await request(`/api/receipt/%0a%22.${ending}`)).status, 422);
      assert.ok((await request(`/api/receipt/%00abcdefgh.${ending}`)).status < 500);
    }
  });
});
