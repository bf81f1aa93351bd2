/** Outputs of operations on receipts, with examples. Records have further fields. */
import { z } from "zod";

const Count = z.number().int();

/** The entry of a receipt in lists. */
const Summary = z.looseObject({
  receipt_id: z.string(),
  chain_position: Count.describe("From 0"),
  previous_hash: z.string().describe("`sha256` of the receipt before; empty for the first"),
  sha256: z.string().describe("SHA-256, 64 hex characters"),
  timestamp: z.string().nullable().describe("ISO 8601 with offset, as the receipt says it"),
  human_input: z.string().describe("Text that a person wrote with the request; mostly empty"),
  type: z.string().describe("Its category"),
  subject: z.string(),
  outcome: z.string(),
  verify_url: z.string(),
  version: z.string().describe("v3.0, v2.0 or v1"),
  verified: z.boolean().describe("Whether it holds by the rules of its era"),
});
/** An example of a receipt. */
export const exampleSummary = {
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

/** A page of receipts. */
export const Page = z.object({
  total: Count.nullable().describe(
    "Receipts of the whole list; null: those that name an id are not counted",
  ),
  page: Count.describe("From 0, the newest"),
  limit: Count,
  has_more: z.boolean(),
  next_before: Count.nullable().describe("`before` of the next page; null: this is the last"),
  chain_intact: z.boolean().nullable(),
  receipts: z.array(Summary.extend({ bitcoin_anchored: z.boolean() })).describe("Newest first"),
});
/** An example of {@linkcode Page}. */
export const examplePage = {
  total: 42,
  page: 0,
  limit: 1,
  has_more: true,
  next_before: 41,
  chain_intact: true,
  receipts: [{ ...exampleSummary, bitcoin_anchored: false }],
};

const Check = z.enum(["pass", "fail", "not_applicable"]);

/** The result of looking for a receipt and verifying it. */
export const Verified = z.union([
  z.object({ found: z.literal(false), receipt: z.null() }),
  z.object({
    found: z.literal(true),
    verified: z.boolean().describe("Whether every check that applies to its era passes"),
    checks: z.object({ hash: Check, canonical: Check, signature: Check, link: Check }).describe(
      "not_applicable: receipts of its era do not have this",
    ),
    reasons: z.array(z.string()).describe("What is wrong, in words"),
    superseded_by: z.string().nullable().describe(
      "The newest receipt that corrects it; looked up now, not part of what is signed",
    ),
    bitcoin_anchored: z.boolean().describe("True only with a block whose header was verified"),
    anchor: z.object({
      state: z.enum(["unbatched", "open", "pending", "confirmed"]),
      block_height: Count.nullable(),
      block_hash: z.string().nullable(),
      block_header: z.string().nullable().describe("80 bytes, hex"),
      block_time: z.string().nullable(),
      proof_url: z.string().nullable().describe("Address of its OpenTimestamps proof"),
      bytes_url: z.string().describe("Address of the bytes that the proof is about"),
    }),
    receipt: Summary.describe("All its stored fields, and those of lists"),
  }),
]);
/** An example of {@linkcode Verified}. */
export const exampleVerified = {
  found: true as const,
  verified: true,
  checks: { hash: "pass", canonical: "pass", signature: "pass", link: "pass" } as const,
  reasons: [],
  superseded_by: null,
  bitcoin_anchored: false,
  anchor: {
    state: "unbatched" as const,
    block_height: null,
    block_hash: null,
    block_header: null,
    block_time: null,
    proof_url: null,
    bytes_url: "http://127.0.0.1:8082/api/receipt/9f2c4b7a01d3e856.bin",
  },
  receipt: exampleSummary,
};
