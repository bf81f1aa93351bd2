import assert from "node:assert/strict";
import { MAINNET } from "../../../../ledger/anchors/ots/mod.ts";
import { NODE_PRIMITIVES } from "../../../../ledger/crypto/mod.ts";
import {
  advanceAnchor,
  buildReceiptProof,
  exportReceipts,
  type StoredReceipt,
} from "../../../../ledger/mod.ts";
import { type AnchorResponse, checkAnchor, NOBLE } from "../../../../ledger/page/checks/mod.ts";
import { type AnchorSetup, startAnchoring } from "../../anchors/_setup.ts";
import { TEST_NETWORK, withoutWork } from "../../anchors/ots/_chain.ts";
import { readExample, skipWithoutExamples } from "../../anchors/ots/_examples.ts";

describe("checkAnchor() of a sealed receipt", () => {
  let setup: AnchorSetup;
  let receipt: StoredReceipt;
  let response: AnchorResponse & { readonly height: number };

  before(async () => {
    setup = await startAnchoring();
    const { parts, calendars, chain, ledger } = setup;
    const batch = await setup.openBatch(3);
    await advanceAnchor(parts, batch);
    const height = calendars[0].commit(chain);
    chain.bury(5);
    await advanceAnchor(parts, batch);
    [receipt] = await exportReceipts(ledger.app, { from: 1, to: 2 }) as [StoredReceipt];
    const proof = await buildReceiptProof(ledger.app, receipt);
    response = { proof, height, header: new Uint8Array(chain.headers[height]!) };
  });
  after(() => setup?.stop());

  const check = (
    given: AnchorResponse | undefined,
    record = receipt.text,
    network = TEST_NETWORK,
  ) => checkAnchor(record, given, NOBLE, network);

  it("passes from the receipt's bytes to the block", () => {
    const { state, text } = check(response);
    assert.equal(state, "pass");
    assert.match(text, /when this block was mined/);
  });

  it("fails for other bytes, another header, and an unreadable proof", () => {
    const other = receipt.text.replace(/("canonical_bytes":")../, "$1ff");
    assert.notEqual(other, receipt.text);
    assert.match(check(response, other).text, /other bytes/);
    const header = new Uint8Array(setup.chain.headers[response.height + 1]!);
    assert.match(check({ ...response, header }).text, /The block does not attest it/);
    assert.match(check({ ...response, proof: new Uint8Array(9) }).text, /cannot be read/);
  });

  it("fails for a block without work, and for one older than the receipts", () => {
    const header = new Uint8Array(withoutWork(response.header!));
    assert.equal(check({ ...response, header }).state, "fail");
    const later = { ...TEST_NETWORK, reachedHeight: response.height };
    assert.equal(check(response, receipt.text, later).state, "fail");
    assert.equal(checkAnchor(receipt.text, response, NOBLE).state, "fail", "it is not Bitcoin's");
  });

  it("is pending without a block, whatever the server claims", () => {
    assert.equal(check(undefined).state, "pending");
    assert.equal(check({ ...response, header: undefined }).state, "pending");
  });
});

describe("checkAnchor() of a real proof", () => {
  before(skipWithoutExamples);

  /** The proof is of 2015. Receipts are newer, so older blocks are refused by default. */
  const ANY_TIME = { ...MAINNET, reachedHeight: 0 };
  const HEIGHT = 358_391;

  /** Makes the part of an era 3 record that is timestamped. */
  const recordOf = (bytes: Uint8Array) =>
    `{"canonical_bytes":"${NODE_PRIMITIVES.toHex(bytes)}","schema_version":"3.0"}`;
  const record = () => recordOf(readExample("hello-world.txt"));
  const proof = () => readExample("hello-world.txt.ots");
  const header = () =>
    NOBLE.fromHex(new TextDecoder().decode(readExample("block-358391.header.hex")).trim());
  const check = (record: string, header: Uint8Array | undefined, height = HEIGHT) =>
    checkAnchor(record, { proof: proof(), height, header }, NOBLE, ANY_TIME);

  it("passes with the header of the real block", () => {
    const { state, text, compared } = check(record(), header());
    assert.equal(state, "pass");
    assert.match(text, /2015-05-28/);
    assert.equal(compared[0]!.value, compared[1]!.value);
  });

  it("is pending without the header", () => {
    assert.equal(check(record(), undefined).state, "pending");
    assert.equal(checkAnchor(record(), undefined, NOBLE).state, "pending");
    assert.equal(check(record(), header(), HEIGHT - 1).state, "pending");
  });

  it("fails for other bytes, another header, missing work, and a truncated proof", () => {
    assert.equal(check(recordOf(readExample("merkle1.txt")), header()).state, "fail");
    assert.equal(check(record(), header().with(79, 0)).state, "fail");
    assert.equal(check(record(), header().subarray(1)).state, "fail");
    const truncated = { proof: proof().subarray(0, 60), height: HEIGHT, header: header() };
    assert.equal(checkAnchor(record(), truncated, NOBLE, ANY_TIME).state, "fail");
  });

  it("fails for a block older than any receipt", () => {
    const response = { proof: proof(), height: HEIGHT, header: header() };
    assert.equal(checkAnchor(record(), response, NOBLE).state, "fail");
  });
});
