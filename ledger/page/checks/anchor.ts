import {
  type AttestationResult,
  BadTimestamp,
  MAINNET,
  type Network,
  parseProof,
  verifyTimestamp,
} from "../../anchors/ots/mod.ts";
import { canonicalizeFields, type Primitives } from "../../rules/mod.ts";
import type { ComparedValue, Step } from "./steps.ts";

/** The proof from `/api/receipt/{id}.ots`, and the block from `/api/verify/{id}`. They are not trusted. */
export interface AnchorResponse {
  readonly proof: Uint8Array;
  /** The block that the proof is said to end in. */
  readonly height: number | undefined;
  readonly header: Uint8Array | undefined;
}

const name = "Bitcoin";

/**
 * Checks a receipt's OpenTimestamps proof, from the receipt's bytes to a block header and its work.
 *
 * @param response undefined if no calendar has accepted the receipt yet
 */
export function checkAnchor(
  record: string,
  response: AnchorResponse | undefined,
  primitives: Primitives,
  network: Network = MAINNET,
): Step {
  if (!response) {
    return { name, state: "pending", text: "Not anchored in Bitcoin yet", compared: [] };
  }
  try {
    const { hash, digest, timestamp } = parseProof(response.proof);
    const computed = primitives.sha256(anchoredBytes(record, primitives));
    const compared = [
      { label: "computed here", value: computed },
      { label: "in the proof", value: primitives.toHex(digest) },
    ];
    if (hash !== "sha256" || primitives.toHex(digest) !== computed) {
      return { name, state: "fail", text: "The proof is about other bytes", compared };
    }
    const { header, height } = response;
    const headers = new Map(header && height !== undefined ? [[height, header]] : []);
    const { reachedHeight } = network;
    return conclude(verifyTimestamp(timestamp, digest, headers, network, reachedHeight), compared);
  } catch (error) {
    if (!(error instanceof BadTimestamp || error instanceof RangeError)) throw error;
    const text = `The proof cannot be read: ${error.message}`;
    return { name, state: "fail", text, compared: [] };
  }
}

function conclude(
  results: readonly AttestationResult[],
  compared: readonly ComparedValue[],
): Step {
  const failed = results.find(({ state }) => state === "failed");
  const result = failed ?? results.find(({ state }) => state === "verified");
  if (!result) {
    const reasons = results.map(({ reason }) => ({ label: "attestation", value: reason }));
    const text = "Not anchored in Bitcoin yet: calendars have promised it";
    return { name, state: "pending", text, compared: [...compared, ...reasons] };
  }
  const day = new Date((result.time ?? 0) * 1000).toISOString().slice(0, 10);
  return {
    name,
    state: failed ? "fail" : "pass",
    text: failed
      ? "The block does not attest it"
      : `It existed on ${day}, when this block was mined. Look up elsewhere whether the block is in the longest chain`,
    compared: [
      ...compared,
      { label: "leads to", value: result.message },
      { label: "block", value: result.reason },
    ],
  };
}

/** Returns the timestamped bytes of a record: the canonical bytes in era 3, the record itself before. */
function anchoredBytes(record: string, { fromHex }: Primitives): Uint8Array {
  const fields = canonicalizeFields(record);
  const hex = fields.get("canonical_bytes")?.slice(1, -1) ?? "";
  const isEra3 = fields.get("schema_version") === '"3.0"';
  const hasBytes = isEra3 && /^(?:[0-9a-f]{2})+$/.test(hex);
  return hasBytes ? fromHex(hex) : new TextEncoder().encode(record);
}
