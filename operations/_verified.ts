import { z } from "zod";
import { type StoredReceipt, verifyStored } from "../ledger/mod.ts";
import type { Store } from "../store/mod.ts";

/** How one check went. */
export const Check = z.enum(["pass", "fail", "not_applicable"]);

/** What the rules of a receipt's era say. */
export const Checks = z.object({ hash: Check, canonical: Check, signature: Check, link: Check });

/** What verifying a receipt gives. */
export const VerifiedReceipt = z.looseObject({
  receipt_id: z.string(),
  verified: z.boolean(),
  checks: Checks.describe("What the rules of its era say"),
  chain_position: z.number().int(),
  sha256: z.string(),
  verify_url: z.url().describe("The public ledger's own answer"),
}).meta({ id: "VerifiedReceipt" });

/** One of the examples. */
export const exampleVerified = {
  receipt_id: "9f2c4b7a01d3e856",
  verified: true,
  checks: { hash: "pass", canonical: "pass", signature: "pass", link: "pass" },
  chain_position: 41,
  sha256: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
  verify_url: "http://127.0.0.1:8082/api/verify/9f2c4b7a01d3e856",
};

/** Verifies a receipt as it is stored. */
export async function verified(store: Store, receipt: StoredReceipt, ledgerUrl: string) {
  return {
    receipt_id: receipt.id,
    ...await verifyStored(store, receipt),
    chain_position: receipt.position,
    sha256: receipt.hash,
    verify_url: `${ledgerUrl}/api/verify/${encodeURIComponent(receipt.id)}`,
  };
}
