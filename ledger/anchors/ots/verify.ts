import { sameBytes, toHex } from "./_bytes.ts";
import type { Attestation } from "./attestation.ts";
import { BadHeader } from "./errors.ts";
import { checkHeader, type Network, parseHeader } from "./header.ts";
import { MAINNET } from "./mainnet.ts";
import { listAttestations, type Timestamp } from "./timestamp.ts";

/** What can be said of one attestation. */
export interface AttestationResult {
  readonly attestation: Attestation;
  /** What is attested, hex: for Bitcoin the merkle root, in the order in which it stands in the header. */
  readonly message: string;
  /**
   * `verified`: the header's merkle root is the message, and the header stands; `failed`: it is another, or the header
   * does not; `claimed`: there is no header to check it against; `pending`: a calendar promises one; `unknown`: of a
   * kind that is not known here.
   */
  readonly state: "verified" | "failed" | "claimed" | "pending" | "unknown";
  /** What was compared, in words. */
  readonly reason: string;
  /** Time of the block, seconds since 1970, where verified. */
  readonly time?: number;
}

/**
 * Verifies every attestation of a message against block headers.
 *
 * It does not say whether a block is part of the longest chain; {@linkcode confirmBlock} asks for that.
 *
 * @param message what the timestamp is of
 * @param headers 80 bytes each, by height
 * @param after height above which the block must be; give {@linkcode Network.reachedHeight} for what is newer than that, as
 * whoever makes up a block of long ago must do the little work of its time alone
 * @throws {BadTimestamp} an operation can't be carried out
 */
export function verifyTimestamp(
  timestamp: Timestamp,
  message: Uint8Array,
  headers: ReadonlyMap<number, Uint8Array>,
  network: Network = MAINNET,
  after = -1,
): AttestationResult[] {
  return listAttestations(timestamp, message).map(({ attestation, message }) => ({
    attestation,
    message: toHex(message),
    ...judge(attestation, message, headers, network, after),
  }));
}

type Judgement = Pick<AttestationResult, "state" | "reason" | "time">;

function judge(
  attestation: Attestation,
  message: Uint8Array,
  headers: ReadonlyMap<number, Uint8Array>,
  network: Network,
  after: number,
): Judgement {
  switch (attestation.kind) {
    case "pending":
      return { state: "pending", reason: `${attestation.uri} promises an attestation` };
    case "unknown":
      return { state: "unknown", reason: `The kind ${attestation.tag} is not known` };
    case "litecoin":
      return {
        state: "claimed",
        reason: `Litecoin block ${attestation.height} is not checked here`,
      };
    case "bitcoin": {
      if (attestation.height <= after) {
        return { state: "failed", reason: tooOld(attestation.height, after) };
      }
      const header = headers.get(attestation.height);
      if (header) return againstHeader(header, attestation.height, message, network);
      return {
        state: "claimed",
        reason: `There is no header of block ${attestation.height} to check it against`,
      };
    }
  }
}

const tooOld = (height: number, after: number) =>
  `Block ${height} is older than what it attests, which is newer than block ${after}`;

function againstHeader(
  bytes: Uint8Array,
  height: number,
  message: Uint8Array,
  network: Network,
): Judgement {
  try {
    const header = parseHeader(bytes);
    checkHeader(header, height, network);
    if (sameBytes(header.merkleRoot, message)) {
      const reason = `It is the merkle root of block ${height}, ${header.hash}`;
      return { state: "verified", time: header.time, reason };
    }
    return {
      state: "failed",
      reason: `The merkle root of block ${height} is ${toHex(header.merkleRoot)}, not ${
        toHex(message)
      }`,
    };
  } catch (error) {
    if (error instanceof BadHeader) return { state: "failed", reason: error.message };
    throw error;
  }
}
