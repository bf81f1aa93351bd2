import { z } from "zod";
import type { StoredReceipt, StoredVerdict } from "../../ledger/mod.ts";

/** Result of one check. */
export const Check = z.enum(["pass", "fail", "not_applicable"]);

/** Results of the checks that apply to every receipt. */
export const Checks = z.object({ hash: Check, canonical: Check, signature: Check, link: Check });

/** A verified receipt. */
export const VerifiedReceipt = z.looseObject({
  receipt_id: z.string(),
  verified: z.boolean(),
  checks: Checks.describe("Results by the rules of the receipt's era"),
  chain_position: z.number().int(),
  sha256: z.string(),
  verify_url: z.url().describe("Verification by the public ledger"),
}).meta({ id: "VerifiedReceipt" });

/** A verified receipt, in examples. */
export const exampleVerifiedReceipt = {
  receipt_id: "9f2c4b7a01d3e856",
  verified: true,
  checks: { hash: "pass", canonical: "pass", signature: "pass", link: "pass" },
  chain_position: 41,
  sha256: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
  verify_url: "http://127.0.0.1:8082/api/verify/9f2c4b7a01d3e856",
} as const satisfies z.output<typeof VerifiedReceipt>;

/** Converts a receipt and its verdict. @param ledgerUrl public address of the ledger */
export function toVerifiedReceipt(
  { id, position, hash }: StoredReceipt,
  verdict: StoredVerdict,
  ledgerUrl: string,
) {
  return {
    receipt_id: id,
    ...verdict,
    chain_position: position,
    sha256: hash,
    verify_url: `${ledgerUrl}/api/verify/${encodeURIComponent(id)}`,
  };
}

/** Tells whether a receipt holds. */
export function tellVerified(
  { receipt_id, verified, checks, chain_position, verify_url }: {
    readonly receipt_id: string;
    readonly verified: boolean;
    readonly checks: Readonly<Record<string, z.output<typeof Check>>>;
    readonly chain_position: number;
    readonly verify_url: string;
  },
): readonly string[] {
  const failed = Object.entries(checks).filter(([, result]) => result === "fail").map(([name]) =>
    name
  );
  return [
    verified
      ? `Receipt ${receipt_id} holds: no check failed. It is at position ${chain_position} of the chain.`
      : `Receipt ${receipt_id} does NOT hold: ${failed.join(", ") || "its checks"} failed.`,
    `Anybody can check it: ${verify_url}`,
  ];
}
