import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "./_bytes.ts";
import { BadHeader } from "./errors.ts";

/** Header of a Bitcoin block. Hashes as hex are in the order in which they are shown: last byte first. */
export interface BlockHeader {
  /** 80 bytes. */
  readonly bytes: Uint8Array;
  readonly hash: string;
  readonly previousHash: string;
  /** As it stands in the header, and in proofs. */
  readonly merkleRoot: Uint8Array;
  /** Seconds since 1970, as the miner said; within two hours of the truth. */
  readonly time: number;
  /** The target in its compact form. */
  readonly bits: number;
}

const SIZE = 80;

/** Reads a block header. @throws {BadHeader} not 80 bytes */
export function parseHeader(bytes: Uint8Array): BlockHeader {
  if (bytes.length !== SIZE) {
    throw new BadHeader(`A block header has ${SIZE} bytes, and this has ${bytes.length}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, SIZE);
  return {
    bytes,
    hash: shown(sha256(sha256(bytes))),
    previousHash: shown(bytes.subarray(4, 36)),
    merkleRoot: bytes.slice(36, 68),
    time: view.getUint32(68, true),
    bits: view.getUint32(72, true),
  };
}

const shown = (hash: Uint8Array) => toHex(hash.toReversed());

/**
 * The number that a block's hash must not be above.
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

/** Targets between which that of a block at some height must lie. */
export interface TargetRange {
  readonly easiest: bigint;
  readonly hardest: bigint;
}

/** What is known of a network. */
export interface Network {
  readonly name: string;
  /**
   * Height that it had reached before this program was written: nothing of ours is in a block up to there. The work of
   * blocks long ago is cheap to do today, and their times are what their makers write.
   */
  readonly reachedHeight: number;
  /** @param height of a block, ≥ 0 */
  targetRange(height: number): TargetRange;
}

/**
 * Checks that a header is one which the network can have had at a height: its target is one of that time, and its
 * hash meets the target, so that the work was really done.
 *
 * @throws {BadHeader} says which of them does not hold
 */
export function checkHeader(header: BlockHeader, height: number, network: Network): void {
  const target = targetFromBits(header.bits);
  const { easiest, hardest } = network.targetRange(height);
  if (target > easiest || target < hardest) {
    const way = target > easiest ? "easier" : "harder";
    throw new BadHeader(
      `The header's difficulty (bits ${hexBits(header.bits)}) is ${way} than ${network.name} ` +
        `can have had at height ${height}`,
    );
  }
  if (BigInt(`0x${header.hash}`) > target) {
    throw new BadHeader(`The header's hash ${header.hash} does not meet its target: no work`);
  }
}

const hexBits = (bits: number) => `0x${bits.toString(16).padStart(8, "0")}`;
