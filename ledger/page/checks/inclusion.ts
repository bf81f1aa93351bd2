import {
  computeInclusionRoot,
  formatLeaf,
  hashLeaf,
  NotCanonical,
  type Primitives,
} from "../../rules/mod.ts";
import { judgeCheckpoint, type Trust } from "../../trust/mod.ts";
import type { ComparedValue, Step } from "./steps.ts";

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
 * @param verifierKey of the log as the server names it, used where the trust pins none
 */
export function checkInclusion(
  receipt: ReceiptRecord,
  response: InclusionResponse | undefined,
  { trust, verifierKey }: { readonly trust: Trust; readonly verifierKey: string | undefined },
  primitives: Primitives,
): Step {
  if (!response || (verifierKey === undefined && !trust.logKey)) {
    const state = trust.logKey ? "not_checked" : "pending"; // a server could say so forever
    return { name, state, text: "No signed checkpoint contains this receipt yet", compared: [] };
  }
  const shown = { note: response.checkpoint, verifierKey };
  const { checkpoints, faults, absent } = judgeCheckpoint(trust, shown, primitives);
  const signed = checkpoints.at(-1);
  if (faults.length > 0 || !signed) {
    return { name, state: "fail", text: faults.join("; "), compared: [] };
  }
  const root = primitives.toHex(signed.root);
  const steps = followProof(receipt, response, primitives);
  if (typeof steps === "string") return { name, state: "fail", text: steps, compared: [] };
  const isSame = signed.size === response.tree_size && root === steps.root;
  const count = signed.size.toLocaleString("en");
  const text = isSame
    ? `${response.hashes.length} hashes lead from this record to the root that the log signed for ${count} receipts`
    : `The proof does not lead to the root that the log signed for ${count} receipts`;
  const compared: ComparedValue[] = [
    { label: "leaf, computed here", value: steps.leaf },
    { label: "root, computed here", value: steps.root },
    { label: "root, signed", value: root },
    { label: "signed by", value: trust.logKey?.name ?? verifierKey ?? "" },
  ];
  if (isSame && absent.length > 0) {
    return { name, state: "not_checked", text: absent.join("; "), compared };
  }
  return { name, state: isSame ? "pass" : "fail", text, compared };
}

/** Computes leaf and root as hex. @returns why that is not possible, if it is not */
function followProof(
  { position, id, record }: ReceiptRecord,
  { tree_size: size, hashes }: InclusionResponse,
  primitives: Primitives,
): { readonly leaf: string; readonly root: string } | string {
  const { fromHex, toHex } = primitives;
  const sha256 = (bytes: Uint8Array) => fromHex(primitives.sha256(bytes));
  try {
    const text = formatLeaf({ position, id, text: record }, primitives.sha256);
    const leafHash = hashLeaf(new TextEncoder().encode(text), sha256);
    const proof = hashes.map((hex) => fromHex(hex));
    const root = computeInclusionRoot({ leafHash, index: position, size, proof }, sha256);
    return { leaf: toHex(leafHash), root: root ? toHex(root) : "(the proof has the wrong length)" };
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return error.message;
  }
}
