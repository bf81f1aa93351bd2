import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "./_bytes.ts";
import { BadHeader } from "./errors.ts";

/** Header of a Bitcoin block. Hex hashes are in display order: last byte first. */
export interface BlockHeader {
  /** 80 bytes. */
  readonly bytes: Uint8Array;
  readonly hash: string;
  readonly previousHash: string;
  /** In the byte order of headers and proofs. */
  readonly merkleRoot: Uint8Array;
  /** Seconds since 1970, as the miner wrote it; at most two hours off. */
  readonly time: number;
  /** The target in its compact form. */
  readonly bits: number;
}

const SIZE = 80;

/** Parses a block header. @throws {BadHeader} not 80 bytes */
export function parseHeader(bytes: Uint8Array): BlockHeader {
  if (bytes.length !== SIZE) {
    throw new BadHeader(`A block header has ${SIZE} bytes, not ${bytes.length}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, SIZE);
  return {
    bytes,
    hash: displayHash(sha256(sha256(bytes))),
    previousHash: displayHash(bytes.subarray(4, 36)),
    merkleRoot: bytes.slice(36, 68),
    time: view.getUint32(68, true),
    bits: view.getUint32(72, true),
  };
}

const displayHash = (hash: Uint8Array) => toHex(hash.toReversed());

/**
 * Expands a compact target: the number that a block's hash must not exceed.
 *
 * @throws {BadHeader} the compact form is negative, zero, or beyond 256 bits
 */
export function targetFromBits(bits: number): bigint {
  const mantissa = BigInt(bits & 0x7fffff);
  const exponent = bits >>> 24;
  const target = exponent <= 3
    ? mantissa >> BigInt(8 * (3 - exponent))
    : mantissa << BigInt(8 * (exponent - 3));
  if ((bits & 0x800000) !== 0 || target === 0n || target >> 256n !== 0n) {
    throw new BadHeader(`${hexBits(bits)} is no target`);
  }
  return target;
}

/** The range in which the target of a block must lie. */
export interface TargetRange {
  readonly easiest: bigint;
  readonly hardest: bigint;
}

/** A network of blocks. */
export interface Network {
  readonly name: string;
  /**
   * Height that the network had reached when this program was written. No receipt is in a block up to there. The work of
   * old blocks is cheap to redo today, and their makers can write any time into them.
   */
  readonly reachedHeight: number;
  /** Returns the targets that are possible at a height. @param height ≥ 0 */
  targetRange(height: number): TargetRange;
}

/**
 * Checks that the network can have had this header at a height: its target is possible there, and its hash meets the
 * target, so that the work was done.
 *
 * @throws {BadHeader}
 */
export function checkHeader(header: BlockHeader, height: number, network: Network): void {
  const target = targetFromBits(header.bits);
  const { easiest, hardest } = network.targetRange(height);
  if (target > easiest || target < hardest) {
    const direction = target > easiest ? "easier" : "harder";
    throw new BadHeader(
      `The header's difficulty (bits ${
        hexBits(header.bits)
      }) is ${direction} than ${network.name} ` +
        `can have had at height ${height}`,
    );
  }
  if (BigInt(`0x${header.hash}`) > target) {
    throw new BadHeader(`The header's hash ${header.hash} does not meet its target`);
  }
}

const hexBits = (bits: number) => `0x${bits.toString(16).padStart(8, "0")}`;
