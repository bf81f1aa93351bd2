import {
  type AttestationResult,
  BadTimestamp,
  MAINNET,
  type Network,
  parseProof,
  verifyTimestamp,
} from "../anchors/ots/mod.ts";
import {
  canonicalizeFields,
  computeInclusionRoot,
  formatLeaf,
  hashLeaf,
  NotCanonical,
  type Primitives,
} from "../rules/mod.ts";
import { openCheckpoint } from "./checkpoint.ts";
import type { Step } from "./steps.ts";
import { count } from "./text.ts";

/** What `/api/log/inclusion/{id}` gives; nothing of it is believed. */
export interface InclusionAnswer {
  readonly tree_size: number;
  /** Hex. */
  readonly hashes: readonly string[];
  readonly checkpoint: string;
}

/**
 * Checks that a record is in the Merkle log, from its own bytes up to the signed root.
 *
 * @param answer undefined: no checkpoint has it yet
 * @param verifierKey of the log, as `name+id+key`
 */
export function inclusionStep(
  { position, id, record }: Proven,
  answer: InclusionAnswer | undefined,
  verifierKey: string | undefined,
  primitives: Primitives,
): Step {
  const name = "Merkle log";
  const failed = (text: string) => ({ name, state: "fail" as const, text, compared: [] });
  if (!answer || verifierKey === undefined) {
    const text = "The server has given no signed checkpoint that has this receipt";
    return { name, state: "pending", text, compared: [] };
  }
  const hash = (bytes: Uint8Array) => primitives.fromHex(primitives.sha256(bytes));
  try {
    const { tree_size: size, hashes } = answer;
    const leaf = UTF_8.encode(formatLeaf({ position, id, text: record }, primitives.sha256));
    const checkpoint = openCheckpoint(answer.checkpoint, verifierKey, primitives);
    const own = hashLeaf(leaf, hash);
    const proof = hashes.map((hex) => primitives.fromHex(hex));
    const root = computeInclusionRoot({ leafHash: own, index: position, size, proof }, hash);
    const computed = root ? primitives.toHex(root) : "(the proof has a wrong length)";
    const compared = [
      { label: "leaf, made here", value: primitives.toHex(own) },
      { label: "root, computed here", value: computed },
      { label: "root, signed", value: checkpoint.root },
      { label: "signed by", value: verifierKey },
    ];
    const same = checkpoint.size === size && checkpoint.root === computed;
    const text = same
      ? `${hashes.length} hashes lead from this record to the root that the log signed for ${
        count(size)
      } receipts`
      : `The proof does not lead to the root that the log signed for ${
        count(checkpoint.size)
      } receipts`;
    return { name, state: same ? "pass" : "fail", text, compared };
  } catch (error) {
    if (error instanceof NotCanonical || error instanceof RangeError) return failed(error.message);
    throw error;
  }
}

/** A record whose proofs are checked. */
export interface Proven {
  readonly position: number;
  readonly id: string;
  /** As it was exported. */
  readonly record: string;
}

/** What `/api/receipt/{id}.ots` and the verify response give; nothing of it is believed. */
export interface AnchorAnswer {
  readonly proof: Uint8Array;
  /** Header of the block that the receipt is said to be anchored in. */
  readonly height: number | undefined;
  readonly header: Uint8Array | undefined;
}

/**
 * Checks a receipt's OpenTimestamps proof from its own bytes down to a block header, whose work is checked too.
 *
 * @param answer undefined: no calendar has taken it yet
 */
export function anchorStep(
  record: string,
  answer: AnchorAnswer | undefined,
  primitives: Primitives,
  network: Network = MAINNET,
): Step {
  const name = "Bitcoin";
  const pending = "It is not anchored in Bitcoin yet";
  if (!answer) return { name, state: "pending", text: pending, compared: [] };
  try {
    const { hash, digest, timestamp } = parseProof(answer.proof);
    const own = primitives.sha256(anchoredBytes(record, primitives));
    const compared = [
      { label: "computed here", value: own },
      { label: `in the proof`, value: primitives.toHex(digest) },
    ];
    if (hash !== "sha256" || primitives.toHex(digest) !== own) {
      return { name, state: "fail", text: "The proof is of other bytes", compared };
    }
    const { header, height } = answer;
    const headers = new Map(header && height !== undefined ? [[height, header]] : []);
    return concluded(
      verifyTimestamp(timestamp, digest, headers, network, network.reachedHeight),
      compared,
    );
  } catch (error) {
    if (!(error instanceof BadTimestamp || error instanceof RangeError)) throw error;
    return { name, state: "fail", text: `The proof can’t be read: ${error.message}`, compared: [] };
  }
}

function concluded(findings: readonly AttestationResult[], compared: Step["compared"]): Step {
  const name = "Bitcoin";
  const verified = findings.find(({ state }) => state === "verified");
  const failed = findings.find(({ state }) => state === "failed");
  const found = failed ?? verified;
  if (!found) {
    const reasons = findings.map(({ reason }) => ({ label: "attestation", value: reason }));
    const text = "It is not anchored in Bitcoin yet: calendars have promised it";
    return { name, state: "pending", text, compared: [...compared, ...reasons] };
  }
  const day = new Date((found.time ?? 0) * 1000).toISOString().slice(0, 10);
  return {
    name,
    state: failed ? "fail" : "pass",
    text: failed
      ? "The block does not attest it"
      : `It existed on ${day}, when this block was mined. That the block is in the longest chain, look up elsewhere`,
    compared: [
      ...compared,
      { label: "leads to", value: found.message },
      { label: "block", value: found.reason },
    ],
  };
}

/** What of a record is timestamped: the canonical bytes of era 3, the record itself of eras before. */
function anchoredBytes(record: string, { fromHex }: Primitives): Uint8Array {
  const fields = canonicalizeFields(record);
  const hex = fields.get("canonical_bytes")?.slice(1, -1) ?? "";
  const isEra3 = fields.get("schema_version") === '"3.0"';
  return isEra3 && /^(?:[0-9a-f]{2})+$/.test(hex) ? fromHex(hex) : UTF_8.encode(record);
}

const UTF_8 = new TextEncoder();
