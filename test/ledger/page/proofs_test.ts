import assert from "node:assert/strict";
import { NODE_PRIMITIVES } from "../../../ledger/crypto/mod.ts";
import { NOBLE } from "../../../ledger/page/browser/primitives.ts";
import { MAINNET } from "../../../ledger/anchors/ots/mod.ts";
import { anchorStep } from "../../../ledger/page/proofs.ts";
import { readExample, skipWithoutExamples } from "../anchors/ots/_examples.ts";

/** The proof at hand is of 2015; receipts are newer, and blocks of then are not taken for them. */
const OF_ALL_TIMES = { ...MAINNET, reached: 0 };

/** A record of era 3 as far as its timestamp goes: it is over the canonical bytes alone. */
const recordOf = (bytes: Uint8Array) =>
  `{"canonical_bytes":"${NODE_PRIMITIVES.toHex(bytes)}","schema_version":"3.0"}`;

describe("anchorStep()", () => {
  before(skipWithoutExamples);

  const record = () => recordOf(readExample("hello-world.txt"));
  const proof = () => readExample("hello-world.txt.ots");
  const header = () =>
    NOBLE.fromHex(new TextDecoder().decode(readExample("block-358391.header.hex")).trim());
  const stepOf = (record: string, header: Uint8Array | undefined, height = 358391) =>
    anchorStep(record, { proof: proof(), height, header }, NOBLE, OF_ALL_TIMES);

  it("follows a real proof down to the header of a real block", () => {
    const { state, text, compared } = stepOf(record(), header());
    assert.equal(state, "pass");
    assert.match(text, /2015-05-28/);
    assert.equal(compared[0]!.value, compared[1]!.value);
  });

  it("says that nothing is proven yet where there is no header, and not that it is", () => {
    assert.equal(stepOf(record(), undefined).state, "pending");
    assert.equal(anchorStep(record(), undefined, NOBLE).state, "pending");
    assert.equal(stepOf(record(), header(), 358390).state, "pending");
  });

  it("fails where the bytes, the header or its work are others", () => {
    assert.equal(stepOf(recordOf(readExample("merkle1.txt")), header()).state, "fail");
    const noWork = header().with(79, 0);
    assert.equal(stepOf(record(), noWork).state, "fail");
    assert.equal(stepOf(record(), header().subarray(1)).state, "fail");
    const anchor = { proof: proof().subarray(0, 60), height: 358391, header: header() };
    assert.equal(anchorStep(record(), anchor, NOBLE, OF_ALL_TIMES).state, "fail");
  });

  it("fails where the block is older than a receipt can be", () => {
    const anchor = { proof: proof(), height: 358391, header: header() };
    assert.equal(anchorStep(record(), anchor, NOBLE).state, "fail");
  });
});
