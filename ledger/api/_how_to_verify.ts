import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import type { PublishingState } from "../log/mod.ts";
import type { NamedKey } from "../rules/mod.ts";

/** A published key. */
export interface PublishedKey extends NamedKey {
  readonly fingerprint_sha256: string;
}

let program: string | undefined;

/**
 * Describes the rules of each era, with the keys and a program that applies them.
 *
 * @param verifierKey of the Merkle log; undefined if it has signed nothing yet
 * @param publishing with the witnesses that are asked
 */
export function describeVerification(
  keys: readonly PublishedKey[],
  ledgerUrl: string,
  verifierKey: string | undefined,
  publishing: PublishingState | undefined,
) {
  program ??= readFileSync(join(ROOT, "ledger", "verify_ledger.py"), "utf8");
  const current = keys.at(-1);
  return {
    ledger_order:
      "/api/export returns receipts oldest first, and entry[i].prev_hash is entry[i-1].hash_sha256; " +
      "/api/receipts returns them newest first",
    algorithm: "Ed25519",
    public_key: current?.public_key ?? null,
    fingerprint_sha256: current?.fingerprint_sha256 ?? null,
    keys: [...keys],
    key_succession: {
      rules: [
        "A key is published from a position on, and introduced by a receipt; a published key that no receipt introduces " +
        "is a break at its position. Only the first of imported keys needs none",
        "ledger_genesis, at position 0, and ledger_adopted, after imported receipts, introduce the key that signs them, " +
        "details.ledger_key, with details.recovery_key. They are proven to who knows that key",
        "ledger_adopted names in details size, head and keys of the receipts before it. After receipts of a ledger " +
        "with keys of its own it is a break, but for who knows its key",
        "key_rotated is signed by the old key, or by the recovery key, and introduces details.new_key from the next " +
        "position on; the recovery key, details.recovery_key, changes only where it signs that itself",
        "details.new_key_signature is Ed25519 by the new key over the canonical JSON of first_key, from_position, " +
        'new_key, old_key, position, prev_hash and statement, which is "sealoop key_rotated"',
      ],
    },
    eras: {
      v3: {
        schema_version: "3.0",
        rules: [
          "canonical_bytes is the hex of the canonical JSON of every stored field except canonical_bytes, signature " +
          "and hash_sha256: keys sorted by code point, no spaces, non-ASCII kept, UTF-8",
          "hash_sha256 is SHA-256 over the raw canonical bytes",
          "signature.value is an Ed25519 signature (RFC 8032, strict) over the raw canonical bytes, by the key " +
          "published for that position",
          "prev_hash is hash_sha256 of the entry before; it is empty for the first entry",
          "chain_position is the position of the entry, from 0",
          "details.commitments are SHA-256 over a 32-byte salt and the canonical JSON of evidence kept privately",
          "acts of places: where details of repair_intended, undo_intended or service_brought_back, or one of the steps " +
          "of self_heal or escalation (details.steps, details.undone.steps), has place or place_signature, that is " +
          "Ed25519 by place, a public key, over the canonical JSON of action_id, place, result_sha256, round and step; " +
          "result_sha256 is SHA-256 over the canonical JSON of all other fields of the step, or of effect_id and code " +
          "of the details, kind (the receipt's action) and state (its outcome)",
          "likewise the details of media_made and platform_scan as a whole: result_sha256 is then over the details " +
          "without those fields and commitments, with action and outcome of the receipt",
          "a receipt place_enrolled with details.place comes before the first act of that place; after the first such " +
          "receipt, no act is without place_signature, but steps whose state is unknown",
          "category api_seal: the holder of the actor's key wrote the content, whatever action and subject say; " +
          "all other categories are written by the platform",
        ],
      },
      v2: {
        schema_version: "2.0",
        rules: [
          "canonical_bytes covers every stored field except canonical_bytes, signature, receiver_attestation and prev_hash",
          "signature.value is an Ed25519 signature over the raw canonical bytes",
          "hash_sha256 cannot be computed again, and prev_hash is not signed: it is only a pointer",
        ],
      },
      v1: {
        schema_version: null,
        rules: ["unsigned; prev_hash must be hash_sha256 of the entry before"],
      },
    },
    log: {
      formats: "C2SP tlog-checkpoint, tlog-tiles, tlog-witness; RFC 6962 with SHA-256",
      verifier_key: verifierKey ?? null,
      witnesses: publishing?.witnesses.map(({ verifier_key }) => verifier_key) ?? [],
      witness_quorum: publishing?.quorum ?? 0,
      checkpoint: `${ledgerUrl}/checkpoint`,
      tiles: `${ledgerUrl}/tile/`,
      leaf:
        "canonical JSON of chain_position, id and record_sha256, which is SHA-256 over the canonical form of the " +
        "whole exported record",
      inclusion: `${ledgerUrl}/api/log/inclusion/{id}`,
      consistency: `${ledgerUrl}/api/log/consistency?from={size}&to={size}`,
    },
    anchors: {
      format: "OpenTimestamps, one proof per receipt, by a tree over SHA-256 of its bytes",
      bytes: `${ledgerUrl}/api/receipt/{id}.bin`,
      proof: `${ledgerUrl}/api/receipt/{id}.ots`,
      usage: "ots verify {id}.bin.ots, with the stock client and a Bitcoin node",
      rules: [
        "the bytes are canonical_bytes in era 3, and the stored record in eras 1 and 2",
        "bitcoin_anchored is true if the block's header, from two sources if two are configured, has the attested " +
        "merkle root, the work that Bitcoin required at its height, and five linked blocks on top",
      ],
      progress: `${ledgerUrl}/api/anchors`,
    },
    fetch: {
      everything: `${ledgerUrl}/api/export?from=0&to=1000`,
      everything_streamed: `${ledgerUrl}/api/export, with Accept: application/x-ndjson`,
      one: `${ledgerUrl}/api/verify/{id}`,
      page_size: 1000,
      numbers: "Keep number tokens unchanged: 1 and 1.0 are different bytes",
    },
    reference_verifier: {
      language: "python",
      needs: "Python 3.9; the package cryptography makes it faster",
      usage: `python3 verify_ledger.py ${ledgerUrl} --pin sealoop.trust.json`,
      source: program,
    },
  };
}
