import assert from "node:assert/strict";
import {
  BadHeader,
  bitcoinAttestation,
  checkHeader,
  confirmBlock,
  MAINNET,
  openBitcoinSources,
  parseHeader,
  targetFromBits,
  verifyTimestamp,
} from "../../../../ledger/anchors/ots/mod.ts";
import { startEsplora, TEST_NETWORK, testChain } from "./_chain.ts";
import { readExample, skipWithoutExamples } from "./_examples.ts";

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));

/** The header of Bitcoin's first block. */
const GENESIS = bytes(
  "01000000" + "00".repeat(32) +
    "3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a" +
    "29ab5f49" + "ffff001d" + "1dac2b7c",
);

describe("parseHeader()", () => {
  it("reads Bitcoin's first block", () => {
    const { hash, time, bits, previousHash } = parseHeader(GENESIS);
    assert.equal(hash, "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f");
    assert.equal(new Date(time * 1000).toISOString(), "2009-01-03T18:15:05.000Z");
    assert.equal(bits, 0x1d00ffff);
    assert.equal(previousHash, "00".repeat(32));
  });

  it("refuses other lengths than 80 bytes", () => {
    assert.throws(() => parseHeader(GENESIS.subarray(1)), /80 bytes, not 79/);
  });
});

describe("targetFromBits()", () => {
  for (
    const [bits, target] of [[0x1d00ffff, 0xffffn << 208n], [0x03123456, 0x123456n], [
      0x01120000,
      0x12n,
    ]] as const
  ) {
    it(`expands 0x${bits.toString(16).padStart(8, "0")}`, () => {
      assert.equal(targetFromBits(bits), target);
    });
  }
  for (const bits of [0, 0x01800000, 0x1d800001, 0x23000100, 0xff7fffff]) {
    it(`refuses 0x${bits.toString(16).padStart(8, "0")}, which is no valid target`, () => {
      assert.throws(() => targetFromBits(bits), BadHeader);
    });
  }
});

describe("checkHeader() for Bitcoin", () => {
  it("accepts the first block", () => checkHeader(parseHeader(GENESIS), 0, MAINNET));

  it("refuses the small work of the first block at later heights", () => {
    for (const height of [100_000, 358_391, 500_000, 840_000, 1_000_000, 10_000_000]) {
      assert.throws(
        () => checkHeader(parseHeader(GENESIS), height, MAINNET),
        /is easier than Bitcoin can have had at height/,
      );
    }
  });

  it("refuses a header whose hash is above its own target", () => {
    const other = GENESIS.with(79, 0);
    assert.throws(() => checkHeader(parseHeader(other), 0, MAINNET), /does not meet its target/);
  });

  it("refuses a header that claims more work than possible", () => {
    const hard = GENESIS.with(75, 0x15).with(74, 0).with(73, 1).with(72, 0);
    assert.throws(() => checkHeader(parseHeader(hard), 0, MAINNET), /harder than Bitcoin/);
  });

  it("accepts a real block only at its own height", function () {
    skipWithoutExamples.call(this);
    const real = parseHeader(
      bytes(Buffer.from(readExample("block-358391.header.hex")).toString().trim()),
    );
    checkHeader(real, 358_391, MAINNET);
    for (const height of [0, 32_256, 200_000, 600_000, 840_000, 900_000]) {
      assert.throws(() => checkHeader(real, height, MAINNET), BadHeader, String(height));
    }
  });

  it("requires the work of the time, and allows more within the rule of the network", () => {
    for (let height = 0; height < 2_000_000; height += 1009) {
      const { easiest, hardest } = MAINNET.targetRange(height);
      assert.ok(easiest >= hardest && hardest >= 0n, String(height));
      assert.ok(easiest <= targetFromBits(0x1d00ffff), String(height));
    }
    const now = targetFromBits(0x17034219);
    assert.equal(MAINNET.targetRange(950_000).easiest, now * 4n);
    assert.ok(MAINNET.targetRange(950_000).hardest < now / 4n ** 50n);
  });
});

describe("verifyTimestamp()", () => {
  const merkleRoot = GENESIS.slice(36, 68);
  const first = { branches: [{ attestation: bitcoinAttestation(0) }] };
  const state = (after?: number) =>
    verifyTimestamp(first, merkleRoot, new Map([[0, GENESIS]]), MAINNET, after)[0]!.state;

  it("finds Bitcoin's first merkle root in Bitcoin's first block", () => {
    assert.equal(state(), "verified");
  });

  it("refuses that block for newer messages", () =>
    assert.equal(state(MAINNET.reachedHeight), "failed"));
});

describe("confirmBlock()", () => {
  it("accepts one source if only one is configured, and counts the sources", async () => {
    const chain = testChain();
    const height = chain.mine();
    chain.bury(5);
    const source = await startEsplora(chain);
    try {
      const confirmed = await confirmBlock(openBitcoinSources([source.url]), height, TEST_NETWORK);
      assert.deepEqual(Buffer.from(confirmed.header.bytes), chain.headers[height]);
      assert.equal(confirmed.sources, 1);
    } finally {
      source.stop();
    }
  });

  it("rejects if no source is configured", async () => {
    await assert.rejects(confirmBlock([], 1, TEST_NETWORK), { name: "NotConfirmed" });
  });
});
