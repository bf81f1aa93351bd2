import {
  computeInclusionRoot,
  formatLeaf,
  hashLeaf,
  NotCanonical,
  type Primitives,
} from "../../rules/mod.ts";
import { verifyCheckpoint } from "./checkpoint.ts";
import type { Step } from "./steps.ts";

/** A record to check in the Merkle log. */
export interface ReceiptRecord {
  readonly position: number;
  readonly id: string;
  /** As it was exported. */
  readonly record: string;
}

/** The fields of `/api/log/inclusion/{id}` that are used. They are not trusted. */
export interface InclusionResponse {
  readonly tree_size: number;
  /** Hex. */
  readonly hashes: readonly string[];
  readonly checkpoint: string;
}

const name = "Merkle log";

/**
 * Checks that a record is in the Merkle log, from its bytes up to the signed root.
 *
 * @param response undefined if no checkpoint contains it yet
 * @param verifierKey of the log, as `name+id+key`
 */
export function checkInclusion(
  { position, id, record }: ReceiptRecord,
  response: InclusionResponse | undefined,
  verifierKey: string | undefined,
  primitives: Primitives,
): Step {
  if (!response || verifierKey === undefined) {
    const text = "No signed checkpoint contains this receipt yet";
    return { name, state: "pending", text, compared: [] };
  }
  try {
    const { tree_size: size, hashes } = response;
    const checkpoint = verifyCheckpoint(response.checkpoint, verifierKey, primitives);
    const sha256 = (bytes: Uint8Array) => primitives.fromHex(primitives.sha256(bytes));
    const text = formatLeaf({ position, id, text: record }, primitives.sha256);
    const leafHash = hashLeaf(new TextEncoder().encode(text), sha256);
    const proof = hashes.map((hex) => primitives.fromHex(hex));
    const root = computeInclusionRoot({ leafHash, index: position, size, proof }, sha256);
    const computed = root ? primitives.toHex(root) : "(the proof has the wrong length)";
    const isSame = checkpoint.size === size && checkpoint.root === computed;
    const signed = `the root that the log signed for ${
      checkpoint.size.toLocaleString("en")
    } receipts`;
    return {
      name,
      state: isSame ? "pass" : "fail",
      text: isSame
        ? `${hashes.length} hashes lead from this record to ${signed}`
        : `The proof does not lead to ${signed}`,
      compared: [
        { label: "leaf, computed here", value: primitives.toHex(leafHash) },
        { label: "root, computed here", value: computed },
        { label: "root, signed", value: checkpoint.root },
        { label: "signed by", value: verifierKey },
      ],
    };
  } catch (error) {
    if (!(error instanceof NotCanonical || error instanceof RangeError)) throw error;
    return { name, state: "fail", text: error.message, compared: [] };
  }
}
