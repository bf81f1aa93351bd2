import { hash } from "node:crypto";
import { sha256 } from "../crypto/mod.ts";
import {
  canonicalize,
  canonicalizeFields,
  formatLeafOfHash,
  type Hash,
  hashLeaf,
  NotCanonical,
} from "../rules/mod.ts";
import { SCHEMA_VERSION } from "../receipts/mod.ts";
import type { OutboxEntry } from "./_outbox_reader.ts";

/** A request that can't be part of the chain, and why. */
export type RefusedRequest = OutboxEntry & { readonly reason: string };

/** A receipt that has its place. */
export interface LinkedReceipt {
  readonly seq: string;
  readonly position: number;
  readonly id: string;
  readonly category: string;
  /** Canonical bytes. */
  readonly record: Buffer;
  readonly hash: Buffer;
  /** Its fields, each with the canonical text of its value. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The end of the chain. */
export interface ChainHead {
  readonly size: number;
  /** Of the newest receipt; null: there is none. */
  readonly hash: Buffer | null;
}

/** All that a request may bring; the rest of a receipt is the sequencer's. */
const FIELDS = new Set([
  ...["id", "timestamp", "category", "actor", "subject", "action", "outcome", "details"],
  ...["human_input", "compliance_tags", "supersedes", "learned_from"],
]);
/** All fields of a sealed receipt in their canonical order, each as it begins. */
const IN_ORDER = [
  ...FIELDS,
  ...["schema_version", "chain_position", "prev_hash"],
  ...["canonical_bytes", "hash_sha256", "signature"],
].sort().map((name) => [name, `"${name}":`] as const);

/** Numbers, links and canonicalises. What can't be part of the chain is set aside with the reason. */
export function link(waiting: readonly OutboxEntry[], head: ChainHead) {
  const linked: LinkedReceipt[] = [];
  const refused: RefusedRequest[] = [];
  let { size, hash } = head;
  for (const entry of waiting) {
    try {
      const fields = fieldsOf(entry)
        .set("schema_version", `"${SCHEMA_VERSION}"`)
        .set("chain_position", String(size))
        .set("prev_hash", `"${hash?.toString("hex") ?? ""}"`);
      const record = Buffer.from(join(fields));
      hash = Buffer.from(sha256(record));
      const category = String(JSON.parse(fields.get("category") ?? '""'));
      linked.push({ ...entry, position: size++, category, record, hash, fields });
    } catch (error) {
      if (!(error instanceof NotCanonical)) throw error;
      refused.push({ ...entry, reason: error.message });
    }
  }
  return { linked, refused, head: { size, hash } };
}

/** @throws {NotCanonical} it can't be sealed */
function fieldsOf({ id, payload }: OutboxEntry): Map<string, string> {
  const fields = canonicalizeFields(payload);
  if (fields.get("id") !== canonicalize(id)) {
    throw new NotCanonical("The id is not that of the request");
  }
  for (const name of fields.keys()) {
    if (!FIELDS.has(name)) throw new NotCanonical(`A request has no field ${name}`);
  }
  return fields;
}

/** The canonical object of fields that are known, each with the canonical text of its value. */
function join(fields: ReadonlyMap<string, string>): string {
  let text = "{";
  for (const [name, begin] of IN_ORDER) {
    const value = fields.get(name);
    if (value !== undefined) text += (text.length > 1 ? "," : "") + begin + value;
  }
  return text + "}";
}

/** Hashes of the leaves of sealed receipts: the same that are made from what is exported, without making that. */
export function leavesOf(
  linked: readonly LinkedReceipt[],
  signatures: readonly Buffer[],
  publicKey: Buffer,
): Hash[] {
  const signed = `{"algorithm":"Ed25519","public_key":"${
    publicKey.toString("hex")
  }","signs":"canonical_bytes","value":"`;
  return linked.map(({ position, id, record, hash: ownHash, fields }, n) => {
    const whole = new Map(fields)
      .set("canonical_bytes", `"${record.toString("hex")}"`)
      .set("hash_sha256", `"${ownHash.toString("hex")}"`)
      .set("signature", `${signed}${signatures[n]!.toString("hex")}"}`);
    const leaf = formatLeafOfHash(position, id, hash("sha256", join(whole)));
    return hashLeaf(Buffer.from(leaf), sha256);
  });
}
