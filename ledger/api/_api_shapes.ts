/** What the public ledger answers, for its description. Whatever else a record has is given besides. */
import { z } from "zod";
import { SERVICE } from "../../domain/mod.ts";

const Count = z.number().int();
const Hash = z.string().describe("SHA-256, 64 hex characters");
const Time = z.string().nullable().describe("ISO 8601 with offset, as the receipt says it");
const Intact = z.boolean().nullable().describe(
  "Whether the chain holds as far as `verified_through`; null: that is not known yet",
);
const Breaks = Count.describe("How many positions do not hold");
const VerifiedThrough = Count.describe("Position of the newest receipt verified; -1: none");

/** The entry of a receipt in lists. */
const Summary = z.looseObject({
  receipt_id: z.string(),
  chain_position: Count.describe("From 0"),
  previous_hash: z.string().describe("`sha256` of the receipt before; empty for the first"),
  sha256: Hash,
  timestamp: Time,
  human_input: z.string().describe("Text that a person wrote with the request; mostly empty"),
  type: z.string().describe("Its category"),
  subject: z.string(),
  outcome: z.string(),
  verify_url: z.string(),
  version: z.string().describe("v3.0, v2.0 or v1"),
  verified: z.boolean().describe("What the rules of its era can say"),
});
const exampleSummary = {
  receipt_id: "9f2c4b7a01d3e856",
  chain_position: 41,
  previous_hash: "89d3ad35fd86216af012bab842df9042fc5cd48dc6b209c420d2616643b14273",
  sha256: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
  timestamp: "2026-07-01T12:00:00.000000+00:00",
  human_input: "",
  type: "self_heal",
  subject: "INC-4f1d22a90b7c",
  outcome: "sealed",
  verify_url: "http://127.0.0.1:8082/api/verify/9f2c4b7a01d3e856",
  version: "v3.0",
  verified: true,
};

/** Counts of the whole ledger. */
export const Stats = z.object({
  total_receipts: Count,
  chain_intact: Intact,
  breaks: Breaks,
  verified_through: VerifiedThrough,
  last_hash: z.string().describe("Of the newest receipt; empty where there is none"),
  last_timestamp: Time,
  last_position: Count.describe("-1 where there is none"),
  genesis_timestamp: Time,
  self_heals: Count,
  platform_fixes: Count,
  provenance_summary: z.record(z.string(), Count).describe("Receipts by category, most first"),
});
/** One of {@linkcode Stats}. */
export const exampleStats = {
  total_receipts: 42,
  chain_intact: true,
  breaks: 0,
  verified_through: 41,
  last_hash: exampleSummary.sha256,
  last_timestamp: exampleSummary.timestamp,
  last_position: 41,
  genesis_timestamp: "2026-07-01T09:00:00.000000+00:00",
  self_heals: 7,
  platform_fixes: 1,
  provenance_summary: { api_classification: 34, self_heal: 7, platform_fix: 1 },
};

/** A page of receipts. */
export const Page = z.object({
  total: Count,
  page: Count.describe("From 0, the newest"),
  limit: Count,
  has_more: z.boolean(),
  chain_intact: Intact,
  receipts: z.array(Summary.extend({ bitcoin_anchored: z.boolean() })).describe("Newest first"),
});
/** One of {@linkcode Page}. */
export const examplePage = {
  total: 42,
  page: 0,
  limit: 1,
  has_more: true,
  chain_intact: true,
  receipts: [{ ...exampleSummary, bitcoin_anchored: false }],
};

const Check = z.enum(["pass", "fail", "not_applicable"]);

/** A receipt that was looked for, with what was checked of it. */
export const Verified = z.union([
  z.object({ found: z.literal(false), receipt: z.null() }),
  z.object({
    found: z.literal(true),
    verified: z.boolean().describe("Whether all that its era can be asked for holds"),
    checks: z.object({ hash: Check, canonical: Check, signature: Check, link: Check }).describe(
      "not_applicable: its era can't be checked in this respect",
    ),
    reasons: z.array(z.string()).describe("What is wrong, in words"),
    superseded_by: z.string().nullable().describe(
      "Receipt that corrects it; looked for now, no part of what is signed",
    ),
    bitcoin_anchored: z.boolean().describe("True only with a block whose header was checked"),
    anchor: z.object({
      state: z.enum(["unbatched", "open", "pending", "confirmed"]),
      block_height: Count.nullable(),
      block_hash: z.string().nullable(),
      block_header: z.string().nullable().describe("80 bytes, hex"),
      block_time: z.string().nullable(),
      proof_url: z.string().nullable().describe("Of its OpenTimestamps proof"),
      bytes_url: z.string().describe("Of the bytes that the proof is about"),
    }),
    receipt: Summary.describe("All of its stored fields, and those of lists"),
  }),
]);
/** One of {@linkcode Verified}. */
export const exampleVerified = {
  found: true as const,
  verified: true,
  checks: { hash: "pass", canonical: "pass", signature: "pass", link: "pass" } as const,
  reasons: [],
  superseded_by: null,
  bitcoin_anchored: false,
  anchor: {
    state: "unbatched" as const,
    ...{ block_height: null, block_hash: null, block_header: null, block_time: null },
    proof_url: null,
    bytes_url: "http://127.0.0.1:8082/api/receipt/9f2c4b7a01d3e856.bin",
  },
  receipt: exampleSummary,
};

/** Whether the chain holds. */
export const Chain = z.object({
  chain_intact: Intact,
  total: Count,
  breaks: Breaks,
  verified_through: VerifiedThrough,
  first_breaks: z.array(z.object({ position: Count, reason: z.string() })),
  scrub: z.looseObject({ pass: Count, position: Count, size: Count }).nullable().describe(
    "How far the pass is that verifies all of it again; null: none was ever begun",
  ),
});
/** One of {@linkcode Chain}. */
export const exampleChain = {
  ...{ chain_intact: true, total: 42, breaks: 0, verified_through: 41, first_breaks: [] },
  scrub: { pass: 12, position: 20, size: 42 },
};

/** Whether the ledger can be read. */
export const Health = z.object({
  status: z.enum(["ok", "verifying", "broken"]),
  service: z.literal(SERVICE.ledger),
  chain_intact: Intact,
  total_receipts: Count,
});

/** Receipts as they are stored. */
export const Exported = z.object({
  from: Count,
  to: Count.describe("Where the next page begins"),
  count: Count,
  total: Count,
  order: z.literal("oldest_first"),
  max_page_size: Count,
  how_to_verify: z.string(),
  receipts: z.array(z.looseObject({ id: z.string() })).describe(
    "Every stored field, its bytes as they were sealed",
  ),
});
/** One of {@linkcode Exported}. */
export const exampleExported = {
  ...{ from: 41, to: 42, count: 1, total: 42, order: "oldest_first" as const, max_page_size: 1000 },
  how_to_verify: "http://127.0.0.1:8082/api/how-to-verify",
  receipts: [{
    ...{ id: exampleSummary.receipt_id, chain_position: 41, schema_version: "3.0" },
    ...{ timestamp: exampleSummary.timestamp, category: "self_heal", actor: "itsm-loop" },
    ...{ subject: exampleSummary.subject, action: "runbook", outcome: "sealed" },
    ...{ details: { rounds: 1 }, human_input: "" },
    ...{ prev_hash: exampleSummary.previous_hash, hash_sha256: exampleSummary.sha256 },
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
});

/** The rules, the keys and the program. */
export const HowToVerify = z.looseObject({
  ledger_order: z.string(),
  algorithm: z.string(),
  public_key: z.string().nullable().describe("The newest, 32 bytes as hex"),
  fingerprint_sha256: z.string().nullable().describe("Of that key: compare it with one you know"),
  keys: z.array(Key).describe("All that have signed, each from a position on"),
  eras: z.record(
    z.string(),
    z.object({ schema_version: z.string().nullable(), rules: z.array(z.string()) }),
  ),
  log: z.looseObject({ verifier_key: z.string().nullable() }),
  anchors: z.looseObject({ format: z.string() }),
  fetch: z.looseObject({ page_size: Count }),
  reference_verifier: z.object({
    language: z.string(),
    needs: z.string(),
    usage: z.string(),
    source: z.string().describe("The program: write it to a file and run it"),
  }),
});
/** One of {@linkcode HowToVerify}, shortened. */
export const exampleHowToVerify = {
  ledger_order: "/api/export gives receipts oldest first, …",
  algorithm: "Ed25519",
  public_key: "424141aa…",
  fingerprint_sha256: "e7f30ef9…",
  keys: [{ public_key: "424141aa…", fingerprint_sha256: "e7f30ef9…", from_position: 0 }],
  eras: { v3: { schema_version: "3.0", rules: ["hash_sha256 is SHA-256 over …", "…"] } },
  log: { verifier_key: "sealoop.localhost+24b11847+AdpF…" },
  anchors: { format: "OpenTimestamps, one proof a receipt, …" },
  fetch: { page_size: 1000 },
  reference_verifier: {
    language: "python",
    needs: "Python 3.9 and the package cryptography",
    usage: "python3 verify_ledger.py http://127.0.0.1:8082",
    source: "…",
  },
};
