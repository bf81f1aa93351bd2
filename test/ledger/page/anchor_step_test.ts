import assert from "node:assert/strict";
import {
  advanceAnchor,
  buildReceiptProof,
  exportReceipts,
  type StoredReceipt,
} from "../../../ledger/mod.ts";
import { NOBLE } from "../../../ledger/page/browser/primitives.ts";
import { type AnchorAnswer, anchorStep } from "../../../ledger/page/proofs.ts";
import { type AnchorSetup, startAnchoring } from "../anchors/_setup.ts";
import { TEST_NETWORK, withoutWork } from "../anchors/ots/_chain.ts";

describe("the page's check of an anchor", () => {
  let bench: AnchorSetup;
  let receipt: StoredReceipt;
  let answer: AnchorAnswer & { readonly height: number };

  before(async () => {
    bench = await startAnchoring();
    const { parts, calendars, chain, ledger } = bench;
    const batch = await bench.openBatch(3);
    await advanceAnchor(parts, batch);
    const height = calendars[0].commit(chain);
    chain.bury(5);
    await advanceAnchor(parts, batch);
    [receipt] = await exportReceipts(ledger.app, { from: 1, to: 2 }) as [StoredReceipt];
    const proof = await buildReceiptProof(ledger.app, receipt);
    answer = { proof, height, header: new Uint8Array(chain.headers[height]!) };
  });
  after(() => bench?.stop());

  const check = (given: AnchorAnswer | undefined, record = receipt.text, network = TEST_NETWORK) =>
    anchorStep(record, given, NOBLE, network);

  it("leads from the receipt's own bytes to the block", () => {
    const { state, text } = check(answer);
    assert.equal(state, "pass");
    assert.match(text, /when this block was mined/);
  });

  it("fails for other bytes, another header, and bytes that are no proof", () => {
    const other = receipt.text.replace(/("canonical_bytes":")../, "$1ff");
    assert.notEqual(other, receipt.text);
    assert.match(check(answer, other).text, /other bytes/);
    const header = new Uint8Array(bench.chain.headers[answer.height + 1]!);
    assert.match(check({ ...answer, header }).text, /The block does not attest it/);
    assert.match(check({ ...answer, proof: new Uint8Array(9) }).text, /can’t be read/);
  });

  it("fails for a block with no work behind it, or from before there were receipts", () => {
    const header = new Uint8Array(withoutWork(answer.header!));
    assert.equal(check({ ...answer, header }).state, "fail");
    const later = { ...TEST_NETWORK, reached: answer.height };
    assert.equal(check(answer, receipt.text, later).state, "fail");
    assert.equal(anchorStep(receipt.text, answer, NOBLE).state, "fail", "it is not Bitcoin's");
  });

  it("says that it is pending where there is no block, whatever the server claims", () => {
    assert.equal(check(undefined).state, "pending");
    assert.equal(check({ ...answer, header: undefined }).state, "pending");
  });
});
