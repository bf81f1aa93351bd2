import { hash } from "node:crypto";
import { NODE_PRIMITIVES, sha256 } from "../crypto/mod.ts";
import { receiptProblem, SCHEMA_VERSION } from "../receipts/mod.ts";
import {
  canonicalize,
  canonicalizeFields,
  findPlaceFault,
  formatLeafOfHash,
  type Hash,
  hashLeaf,
  isSuccession,
  NotCanonical,
  readPlaces,
} from "../rules/mod.ts";
import type { BatchReceipt, ChainHead, Signatures } from "../signer/mod.ts";

/** A request in the outbox. */
export interface OutboxEntry {
  /** Number of its row. Rows do not always become visible in the order of their numbers. */
  readonly seq: string;
  readonly id: string;
  /** The category that its role was allowed to request. */
  readonly category: string;
  /** Canonical JSON of the fields of the request. */
  readonly payload: string;
  /** When it was requested, by the database's clock. */
  readonly at: Date;
}

/** A request that can't be part of the chain. */
export type RefusedEntry = OutboxEntry & { readonly reason: string };

/** A receipt with its place in the chain, not signed yet. */
export interface LinkedReceipt extends BatchReceipt {
  readonly position: number;
  /** Fields of the record, each with the canonical text of its value. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The fields that a request may have; the sequencer adds the others. */
const REQUEST_FIELDS = new Set([
  "id",
  "timestamp",
  "category",
  "actor",
  "subject",
  "action",
  "outcome",
  "details",
  "human_input",
  "compliance_tags",
  "supersedes",
  "learned_from",
]);
const SEALED_FIELDS = [
  "schema_version",
  "chain_position",
  "prev_hash",
  "canonical_bytes",
  "hash_sha256",
  "signature",
];
/** Between a receipt's time and that of its request. The outbox itself takes no more, so a little is for rounding. */
const MAX_TIME_DIFFERENCE_MS = 5 * 60_000 + 1_000;
/** All fields of a receipt in canonical order, each with the text before its value. */
const FIELDS_IN_ORDER = [...REQUEST_FIELDS, ...SEALED_FIELDS].sort()
  .map((name) => [name, `"${name}":`] as const);

/**
 * Numbers, links and canonicalizes entries. Those that can't be part of the chain are refused, with the reason.
 *
 * @param enrolled ids of the places that receipts enrol, to which those of the entries are added
 */
export function link(
  entries: readonly OutboxEntry[],
  head: ChainHead,
  enrolled: Set<string>,
): { linked: LinkedReceipt[]; refused: RefusedEntry[]; head: ChainHead } {
  const linked: LinkedReceipt[] = [];
  const refused: RefusedEntry[] = [];
  let end = head;
  for (const entry of entries) {
    try {
      const receipt = linkEntry(entry, end);
      if (isSuccession(receipt.category)) {
        throw new NotCanonical(`Receipts of category ${receipt.category} can't be requested`);
      }
      const places = readPlaces(receipt.fields, NODE_PRIMITIVES);
      const fault = places.fault ?? findPlaceFault(places, enrolled);
      if (fault !== undefined) throw new NotCanonical(fault); // sealed once, it would never verify
      if (places.enrolled !== undefined) enrolled.add(places.enrolled);
      linked.push(receipt);
      end = { size: end.size + 1, hash: receipt.hash };
    } catch (error) {
      if (!(error instanceof NotCanonical)) throw error;
      refused.push({ ...entry, reason: error.message });
    }
  }
  return { linked, refused, head: end };
}

/** Numbers, links and canonicalizes one entry. @throws {NotCanonical} it can't be sealed */
export function linkEntry(entry: OutboxEntry, { size, hash }: ChainHead): LinkedReceipt {
  const fields = parseRequest(entry)
    .set("schema_version", `"${SCHEMA_VERSION}"`)
    .set("chain_position", String(size))
    .set("prev_hash", `"${hash?.toString("hex") ?? ""}"`);
  const record = Buffer.from(joinInOrder(fields));
  const problem = receiptProblem(fields, record.length);
  if (problem !== undefined) throw new NotCanonical(problem);
  const { seq, id, category, at } = entry;
  // What waited through an outage of days is still sealed: its time is compared with that of its request.
  const time: string = JSON.parse(fields.get("timestamp")!);
  if (Math.abs(Date.parse(time) - at.getTime()) > MAX_TIME_DIFFERENCE_MS) {
    throw new NotCanonical(`It is dated ${time}, and was requested at ${at.toISOString()}`);
  }
  return { seq, position: size, id, category, record, hash: Buffer.from(sha256(record)), fields };
}

/** @throws {NotCanonical} it can't be sealed */
function parseRequest({ id, category, payload }: OutboxEntry): Map<string, string> {
  const fields = canonicalizeFields(payload);
  if (fields.get("id") !== canonicalize(id)) {
    throw new NotCanonical("The id is not that of the request");
  }
  if (fields.get("category") !== canonicalize(category)) {
    throw new NotCanonical("The category is not that of the request");
  }
  for (const name of fields.keys()) {
    if (!REQUEST_FIELDS.has(name)) throw new NotCanonical(`A request has no field ${name}`);
  }
  return fields;
}

/** Returns the canonical object of known fields. Their order is fixed, so no receipt needs sorting. */
function joinInOrder(fields: ReadonlyMap<string, string>): string {
  let text = "{";
  for (const [name, prefix] of FIELDS_IN_ORDER) {
    const value = fields.get(name);
    if (value !== undefined) text += (text.length > 1 ? "," : "") + prefix + value;
  }
  return text + "}";
}

/** Computes the leaf hashes of signed receipts in the Merkle log. A leaf commits to the exported record. */
export function computeLeaves(
  linked: readonly LinkedReceipt[],
  { signatures, publicKey }: Signatures,
): Hash[] {
  const key = publicKey.toString("hex");
  return linked.map(({ position, id, record, hash: recordHash, fields }, n) => {
    const value = signatures[n]!.toString("hex");
    const exported = new Map(fields)
      .set("canonical_bytes", `"${record.toString("hex")}"`)
      .set("hash_sha256", `"${recordHash.toString("hex")}"`)
      .set(
        "signature",
        `{"algorithm":"Ed25519","public_key":"${key}","signs":"canonical_bytes","value":"${value}"}`,
      );
    const leaf = formatLeafOfHash(position, id, hash("sha256", joinInOrder(exported)));
    return hashLeaf(Buffer.from(leaf), sha256);
  });
}
