import type { Store } from "../../store/mod.ts";
import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import type { StoredReceipt } from "../receipts/mod.ts";
import {
  type FollowedRecord,
  followSpan,
  type Place,
  type Span,
  type TrustedKey,
} from "../rules/mod.ts";
import { type FailedCheck, type LedgerBreak, ledgerBreak } from "./breaks.ts";

/** The result for one stored receipt. */
export interface StoredReceiptResult {
  /** Undefined if the receipt holds. */
  readonly broken: LedgerBreak | undefined;
  readonly leaf: FollowedRecord["leaf"];
}

const CHECKS = ["hash", "canonical", "signature", "link"] as const;

/** Verifies a stored receipt that is at its place. @returns `next`: the place of the next receipt */
export function verifyStoredReceipt(
  receipt: StoredReceipt,
  place: Place,
  keys: readonly TrustedKey[],
): StoredReceiptResult & { readonly next: Place } {
  const span = followSpan(place, keys, NODE_PRIMITIVES);
  return { ...followStoredReceipt(span, receipt), next: span.place() };
}

/** Verifies the next stored receipt: its record by the rules of its era, and the columns of its row by the record. */
export function followStoredReceipt(span: Span, receipt: StoredReceipt): StoredReceiptResult {
  const { position, id, text } = receipt;
  const { verdict, era, places, leaf } = span.add(text, position);
  const columns = era === undefined ? [] : findWrongColumns(receipt, era);
  const reasons = [
    ...verdict.reasons,
    ...columns.map((column) => `The column ${column} differs from the record`),
  ];
  if (reasons.length === 0) return { broken: undefined, leaf };
  const failed = CHECKS.find((check) => verdict.checks[check] === "fail");
  const ofPlace = places.fault === undefined ? undefined : "signature";
  const check: FailedCheck = failed ?? ofPlace ?? (columns.length > 0 ? "columns" : "canonical");
  const reason = printable(reasons.join("; "));
  return { broken: ledgerBreak(position, check, reason, printable(id)), leaf };
}

function findWrongColumns(receipt: StoredReceipt, era: number): string[] {
  let record: Record<string, unknown>;
  try {
    record = JSON.parse(receipt.text);
  } catch {
    return []; // verifying the record reports that
  }
  const { id, category, hash_sha256 } = record;
  const expected = { id, category, hash: hash_sha256, era };
  return Object.entries(expected)
    .filter(([column, value]) => receipt[column as keyof typeof expected] !== value)
    .map(([column]) => column);
}

/** The bytes and the signature in the row of a receipt whose text was imported as it was printed. */
interface RowBytes {
  /** Hex. */
  readonly record: string;
  /** Hex. */
  readonly signature: string;
}

/** Reads the bytes of receipts whose text is not made from them. @param to inclusive */
export async function readImportedBytes(
  store: Store,
  from: number,
  to: number,
): Promise<ReadonlyMap<number, RowBytes>> {
  const rows = await store.asPlatform().query<RowBytes & { position: string }>(
    `SELECT position, encode(record, 'hex') AS record, encode(signature, 'hex') AS signature
     FROM receipts WHERE position >= $1 AND position <= $2 AND era = 3 AND original IS NOT NULL`,
    [from, to],
  );
  return new Map(rows.map((row) => [Number(row.position), row]));
}

/** Compares the bytes of a row with a text that holds. @returns undefined if they are the same */
export function checkImportedBytes(
  { position, id, text }: StoredReceipt,
  bytes: RowBytes,
): LedgerBreak | undefined {
  const { canonical_bytes, signature } = JSON.parse(text);
  if (bytes.record === canonical_bytes && bytes.signature === signature.value) return undefined;
  const reason = "The bytes or the signature of the row are not those of the record";
  return ledgerBreak(position, "columns", reason, printable(id));
}

/** Makes text from the database safe to store, show and send, whatever somebody has written there. */
function printable(text: string): string {
  // deno-lint-ignore no-control-regex -- these are replaced
  return text.replace(/[\u0000-\u001f\u007f]/g, "\ufffd").slice(0, 500).toWellFormed();
}
