/** Private evidence behind receipts: bounded when it is stored, checked when it is read, deleted when it is old. */
import { hash } from "node:crypto";
import { computeCommitment, type Store } from "../../store/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { canonicalize } from "../rules/mod.ts";
import { findReceipt } from "./find.ts";

/** Most bytes of one entry. */
const MAX_ENTRY_BYTES = 256 * 1024;
/** Characters that are kept of a longer one. */
const KEPT_CHARACTERS = 32 * 1024;
const MAX_AT_ONCE = 5_000;

/**
 * Returns the entry to store for a content: itself, or of one that is too long its beginning, its length and its SHA-256,
 * by which whoever has the whole can still prove it.
 *
 * @param content canonical JSON
 * @returns canonical JSON
 */
export function boundEntry(content: string): string {
  const bytes = Buffer.byteLength(content);
  if (bytes <= MAX_ENTRY_BYTES) return content;
  let start = content.slice(0, KEPT_CHARACTERS);
  if (/[\ud800-\udbff]$/.test(start)) start = start.slice(0, -1); // half a character has no canonical form
  return canonicalize({ cut: true, bytes, sha256: hash("sha256", content), start });
}

/** An entry of the private evidence behind a receipt. */
export interface EvidenceEntry {
  readonly name: string;
  /** As it was sealed, hex. */
  readonly commitment: string;
  /** `gone`: it was deleted. `altered`: it is not what was sealed. */
  readonly state: "proven" | "gone" | "altered";
  /** Hex; absent: it is gone. */
  readonly salt?: string;
  /** Canonical JSON; absent: it is gone. */
  readonly content?: string;
}

interface EvidenceRow {
  readonly name: string;
  readonly salt: Buffer;
  readonly content: string;
}

/**
 * Returns the evidence behind a receipt, whichever tenant owns it, each entry checked against its commitment. An
 * entry that is gone takes nothing from the receipt.
 *
 * @param idOrPrefix of the receipt
 * @throws {ReceiptNotFound} none matches
 */
export async function readEvidence(
  store: Store,
  idOrPrefix: string,
): Promise<{ readonly id: string; readonly entries: EvidenceEntry[] }> {
  const { id, text } = await findReceipt(store, idOrPrefix);
  const commitments: Record<string, string> = JSON.parse(text).details?.commitments ?? {};
  const stored = new Map<string, EvidenceRow>();
  for (const tenant of await listTenants(store.asPlatform())) {
    const rows = await store.asTenant(tenant).query<EvidenceRow>(
      "SELECT name, salt, content FROM evidence WHERE receipt_id = $1",
      [id],
    );
    for (const row of rows) stored.set(row.name, row);
  }
  const entries = Object.entries(commitments).map(([name, commitment]): EvidenceEntry => {
    const entry = stored.get(name);
    if (!entry) return { name, commitment, state: "gone" };
    const { salt, content } = entry;
    const isProven = computeCommitment(salt, content) === commitment;
    const state = isProven ? "proven" : "altered";
    return { name, commitment, state, salt: salt.toString("hex"), content };
  });
  return { id, entries };
}

/** Days that evidence is kept; 0: for ever. */
export interface EvidenceRetention {
  readonly days: number;
  /** Days for evidence of requests by callers without a key. */
  readonly anonymousDays: number;
}

/**
 * Deletes evidence that is older than it is kept, with its salts, and the private hashes from which it could be guessed.
 * Receipts stay, and verify as before.
 *
 * @returns how many entries
 */
export async function deleteOldEvidence(
  store: Store,
  { days, anonymousDays }: EvidenceRetention,
): Promise<number> {
  let deleted = 0;
  for (const tenant of await listTenants(store.asPlatform())) {
    for (let last = MAX_AT_ONCE; last === MAX_AT_ONCE; deleted += last) {
      const row = await store.asTenant(tenant).first<{ deleted: number }>(
        "SELECT delete_old_evidence($1, $2, $3) AS deleted",
        [days, anonymousDays, MAX_AT_ONCE],
      );
      last = row!.deleted;
    }
  }
  return deleted;
}
