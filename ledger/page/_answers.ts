import type { JsonText } from "../../contract/mod.ts";
import { findValue, splitJson } from "./checks/mod.ts";

/** Calls an operation of the ledger by its name. Pages know only what its API answers. */
export type Call = (
  operation: string,
  input: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

/** The fields of `public_ledger.stats` that pages use. */
export interface Stats {
  readonly total_receipts: number;
  readonly chain_intact: boolean | null;
  readonly breaks: number;
  readonly verified_through: number;
  readonly last_timestamp: string | null;
  readonly genesis_timestamp: string | null;
  readonly self_heals: number;
  readonly platform_fixes: number;
  readonly provenance_summary: Readonly<Record<string, number>>;
}

/** The fields of `public_ledger.activity` that pages use. */
export interface Activity {
  readonly days: readonly { readonly day: string; readonly receipts: number }[];
}

/** The fields of `public_ledger.anchors` that pages use. */
export interface Anchors {
  readonly anchored_receipts: number;
  readonly anchored_share: number;
  readonly newest_block_height: number | null;
  readonly pending: { readonly receipts: number; readonly unbatched_receipts: number };
}

/** The fields of `public_ledger.how_to_verify` that pages use. */
export interface HowToVerify {
  readonly keys: readonly {
    readonly public_key: string;
    readonly fingerprint_sha256: string;
    readonly from_position: number;
  }[];
  readonly log: { readonly verifier_key: string | null };
}

/** The fields of `public_ledger.verify` that pages use. */
export interface Verified {
  readonly verified?: boolean;
  readonly reasons?: readonly string[];
  readonly superseded_by?: string | null;
  /** Null if there is no such receipt. */
  readonly receipt: { readonly receipt_id: string; readonly chain_position: number } | null;
}

/** Exports the records of a range, byte for byte. */
export async function exportRecords(call: Call, from: number, to: number): Promise<string[]> {
  if (to <= from) return [];
  const { text } = await call("public_ledger.export", { from, to }) as JsonText;
  return splitJson(findValue(text, "receipts") ?? "[]");
}
