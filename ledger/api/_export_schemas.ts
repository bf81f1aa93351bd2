/** Outputs of operations for verifying elsewhere, with examples. */
import { z } from "zod";
import { exampleSummary } from "./_receipt_schemas.ts";

const Count = z.number().int();

/** Receipts as they are stored. */
export const Exported = z.object({
  from: Count,
  to: Count.describe("First position of the next page"),
  count: Count,
  total: Count,
  order: z.literal("oldest_first"),
  max_page_size: Count,
  how_to_verify: z.string(),
  receipts: z.array(z.looseObject({ id: z.string() })).describe(
    "All stored fields, byte for byte as they were sealed",
  ),
});
/** An example of {@linkcode Exported}. */
export const exampleExported = {
  from: 41,
  to: 42,
  count: 1,
  total: 42,
  order: "oldest_first" as const,
  max_page_size: 1000,
  how_to_verify: "http://127.0.0.1:8082/api/how-to-verify",
  receipts: [{
    id: exampleSummary.receipt_id,
    chain_position: 41,
    schema_version: "3.0",
    timestamp: exampleSummary.timestamp,
    category: "self_heal",
    actor: "itsm-loop",
    subject: exampleSummary.subject,
    action: "runbook",
    outcome: "sealed",
    details: { rounds: 1 },
    human_input: "",
    prev_hash: exampleSummary.previous_hash,
    hash_sha256: exampleSummary.sha256,
    canonical_bytes: "7b22616374696f6e…",
    signature: {
      algorithm: "Ed25519",
      public_key: "424141aa…",
      value: "0d0f1c…",
      signs: "canonical_bytes",
    },
  }],
};

const Key = z.object({
  public_key: z.string().describe("32 bytes, hex"),
  fingerprint_sha256: z.string(),
  from_position: Count,
  recovery_key: z.string().optional().describe(
    "The key that may replace it, 32 bytes as hex; absent for imported keys from before keys had a succession",
  ),
});

/** The rules, the keys and a program. */
export const HowToVerify = z.looseObject({
  ledger_order: z.string(),
  algorithm: z.string(),
  public_key: z.string().nullable().describe("The newest key, 32 bytes as hex"),
  fingerprint_sha256: z.string().nullable().describe(
    "Of the newest key: compare it with one from elsewhere",
  ),
  keys: z.array(Key).describe("All keys that have signed, each with its first position"),
  eras: z.record(
    z.string(),
    z.object({ schema_version: z.string().nullable(), rules: z.array(z.string()) }),
  ),
  log: z.looseObject({
    verifier_key: z.string().nullable(),
    witnesses: z.array(z.string()).describe(
      "Verifier keys of the witnesses that are asked to cosign",
    ),
    witness_quorum: Count.describe(
      "Number of them without whose cosignatures nothing is published",
    ),
  }),
  anchors: z.looseObject({ format: z.string() }),
  fetch: z.looseObject({ page_size: Count }),
  reference_verifier: z.object({
    language: z.string(),
    needs: z.string(),
    usage: z.string(),
    source: z.string().describe("The program: write it to a file and run it"),
  }),
});
/** An example of {@linkcode HowToVerify}, shortened. */
export const exampleHowToVerify = {
  ledger_order: "/api/export returns receipts oldest first, …",
  algorithm: "Ed25519",
  public_key: "424141aa…",
  fingerprint_sha256: "e7f30ef9…",
  keys: [{ public_key: "424141aa…", fingerprint_sha256: "e7f30ef9…", from_position: 0 }],
  eras: { v3: { schema_version: "3.0", rules: ["hash_sha256 is SHA-256 over …", "…"] } },
  log: {
    verifier_key: "sealoop.localhost+24b11847+AdpF…",
    witnesses: ["witness.example/w1+9a0c31d2+BJx…"],
    witness_quorum: 1,
  },
  anchors: { format: "OpenTimestamps, one proof per receipt, …" },
  fetch: { page_size: 1000 },
  reference_verifier: {
    language: "python",
    needs: "Python 3.9; the package cryptography makes it faster",
    usage: "python3 verify_ledger.py http://127.0.0.1:8082 sealoop.trust.json",
    source: "…",
  },
};
