import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";

/** A published key. */
export interface PublishedKey {
  readonly public_key: string;
  readonly fingerprint_sha256: string;
  readonly from_position: number;
}

let verifier: string | undefined;

/**
 * The rules of each era, the keys, and a program that applies them.
 *
 * @param verifierKey of the Merkle log; undefined: it has signed nothing yet
 */
export function howToVerify(
  keys: readonly PublishedKey[],
  ledgerUrl: string,
  verifierKey: string | undefined,
) {
  verifier ??= readFileSync(join(ROOT, "ledger", "verify_ledger.py"), "utf8");
  const current = keys.at(-1);
  return {
    ledger_order:
      "/api/export gives receipts oldest first, and entry[i].prev_hash is entry[i-1].hash_sha256; " +
      "/api/receipts gives them newest first",
    algorithm: "Ed25519",
    public_key: current?.public_key ?? null,
    fingerprint_sha256: current?.fingerprint_sha256 ?? null,
    keys: [...keys],
    eras: {
      v3: {
        schema_version: "3.0",
        rules: [
          "canonical_bytes is the hex of the canonical JSON of every stored field but canonical_bytes, signature " +
          "and hash_sha256: keys sorted by code point, no spaces, non-ASCII kept, UTF-8",
          "hash_sha256 is SHA-256 over the raw canonical bytes",
          "signature.value is an Ed25519 signature (RFC 8032, strict) over the raw canonical bytes, by the key " +
          "published for that position",
          "prev_hash is hash_sha256 of the entry before; empty for the first",
          "chain_position is the entry's place, from 0",
          "details.commitments are SHA-256 over a 32-byte salt and the canonical JSON of evidence kept privately",
          "category api_seal is what the holder of the actor's key had sealed, in words of their own, whatever action and " +
          "subject say; every other category is the platform's own",
        ],
      },
      v2: {
        schema_version: "2.0",
        rules: [
          "canonical_bytes covers every stored field but canonical_bytes, signature, receiver_attestation and prev_hash",
          "signature.value is an Ed25519 signature over the raw canonical bytes",
          "hash_sha256 can't be derived again, and prev_hash is not signed: it is only a pointer",
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
      checkpoint: `${ledgerUrl}/checkpoint`,
      tiles: `${ledgerUrl}/tile/`,
      leaf:
        "canonical JSON of chain_position, id and record_sha256, which is SHA-256 over the canonical form of the " +
        "whole exported record",
      inclusion: `${ledgerUrl}/api/log/inclusion/{id}`,
      consistency: `${ledgerUrl}/api/log/consistency?from={size}&to={size}`,
    },
    anchors: {
      format: "OpenTimestamps, one proof a receipt, by way of a tree over SHA-256 of its bytes",
      bytes: `${ledgerUrl}/api/receipt/{id}.bin`,
      proof: `${ledgerUrl}/api/receipt/{id}.ots`,
      usage: "ots verify {id}.bin.ots, with the stock client beside a Bitcoin node",
      rules: [
        "the bytes are canonical_bytes in era 3, and the record as it is stored before",
        "bitcoin_anchored is true when the block's header, by two sources where two are set, has the attested merkle " +
        "root, work that Bitcoin can have asked for at its height, and five linked blocks on it",
      ],
      progress: `${ledgerUrl}/api/anchors`,
    },
    fetch: {
      everything: `${ledgerUrl}/api/export?from=0&to=1000`,
      everything_streamed: `${ledgerUrl}/api/export, with Accept: application/x-ndjson`,
      one: `${ledgerUrl}/api/verify/{id}`,
      page_size: 1000,
      numbers: "Keep number tokens as they are: 1 and 1.0 are different bytes",
    },
    reference_verifier: {
      language: "python",
      needs: "Python 3.9 and the package cryptography",
      usage: `python3 verify_ledger.py ${ledgerUrl}`,
      source: verifier,
    },
  };
}
