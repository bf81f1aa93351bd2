import { sameBytes, toHex } from "./_bytes.ts";
import type { Attestation } from "./attestation.ts";
import { BadHeader } from "./errors.ts";
import { checkHeader, type Network, parseHeader } from "./header.ts";
import { MAINNET } from "./mainnet.ts";
import { listAttestations, type Timestamp } from "./timestamp.ts";

/** The result of verifying one attestation. */
export interface AttestationResult {
  readonly attestation: Attestation;
  /** The attested message, hex: for Bitcoin the merkle root, in the byte order of the header. */
  readonly message: string;
  /**
   * `verified`: the header is valid, and its merkle root is the message; `failed`: it is not; `claimed`: there is no
   * header to check against; `pending`: a calendar promises one; `unknown`: of a kind that is not known here.
   */
  readonly state: "verified" | "failed" | "claimed" | "pending" | "unknown";
  /** A sentence that says what was compared. */
  readonly reason: string;
  /** Time of the block if verified, seconds since 1970. */
  readonly time?: number;
}

/**
 * Verifies every attestation of a message against block headers.
 *
 * Does not find out whether a block is in the longest chain; {@linkcode confirmBlock} does.
 *
 * @param message the message that the timestamp is about
 * @param headers 80 bytes each, by height
 * @param afterHeight height above which the block must be. Pass {@linkcode Network.reachedHeight} for messages newer
 * than that: a forged old block costs only the little work of its time
 * @throws {BadTimestamp} an operation is not allowed
 */
export function verifyTimestamp(
  timestamp: Timestamp,
  message: Uint8Array,
  headers: ReadonlyMap<number, Uint8Array>,
  network: Network = MAINNET,
  afterHeight = -1,
): AttestationResult[] {
  return listAttestations(timestamp, message).map(({ attestation, message }) => ({
    attestation,
    message: toHex(message),
    ...judge(attestation, message, headers, network, afterHeight),
  }));
}

type Judgement = Pick<AttestationResult, "state" | "reason" | "time">;

function judge(
  attestation: Attestation,
  message: Uint8Array,
  headers: ReadonlyMap<number, Uint8Array>,
  network: Network,
  afterHeight: number,
): Judgement {
  switch (attestation.kind) {
    case "pending":
      return { state: "pending", reason: `${attestation.uri} promises an attestation` };
    case "unknown":
      return {
        state: "unknown",
        reason: `Attestations of kind ${attestation.tag} are not known here`,
      };
    case "litecoin":
      return {
        state: "claimed",
        reason: `Litecoin block ${attestation.height} is not checked here`,
      };
    case "bitcoin": {
      if (attestation.height <= afterHeight) {
        return { state: "failed", reason: tooOld(attestation.height, afterHeight) };
      }
      const header = headers.get(attestation.height);
      if (header) return judgeByHeader(header, attestation.height, message, network);
      return {
        state: "claimed",
        reason: `There is no header of block ${attestation.height} to check it against`,
      };
    }
  }
}

const tooOld = (height: number, afterHeight: number) =>
  `Block ${height} is older than the attested bytes, which are newer than block ${afterHeight}`;

function judgeByHeader(
  bytes: Uint8Array,
  height: number,
  message: Uint8Array,
  network: Network,
): Judgement {
  try {
    const header = parseHeader(bytes);
    checkHeader(header, height, network);
    if (sameBytes(header.merkleRoot, message)) {
      const reason = `The merkle root of block ${height}, ${header.hash}`;
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
