import type { Store } from "../../store/mod.ts";
import { exportReceipts } from "../receipts/mod.ts";
import type { TrustedKey } from "../rules/mod.ts";
import type { LedgerBreak } from "./_span.ts";

/** What a finished pass knows of the chain. Kept by whoever starts the next one, outside of the database. */
export interface ChainSnapshot {
  readonly size: number;
  /** Hash of the newest receipt, hex. */
  readonly hash: string;
  readonly keys: readonly TrustedKey[];
}

/** Compares the head with the newest receipt. */
export async function headBreaks({ pool }: Store): Promise<LedgerBreak[]> {
  const { rows: [row] } = await pool.query(
    `SELECT h.size, h.hash, (SELECT max(position) FROM receipts) AS last,
       (SELECT hash FROM receipts WHERE position = h.size - 1) AS newest FROM ledger_head h`,
  );
  const size = Number(row.size);
  const ofHead = (position: number, reason: string): LedgerBreak => ({
    ...{ position, check: "head", reason, receiptId: null },
  });
  const breaks: LedgerBreak[] = [];
  if (row.last !== null && Number(row.last) >= size) {
    breaks.push(ofHead(size, `The head says ${size} receipts, and there are more`));
  }
  if (size > 0 && row.newest && (row.hash === null || !row.newest.equals(row.hash))) {
    breaks.push(ofHead(size - 1, "The head is not the hash of the newest receipt"));
  }
  return breaks;
}

/** What somebody has seen of the chain. */
export interface Seen {
  readonly size: number;
  /** Of the newest receipt, hex. */
  readonly hash?: string;
  readonly by: string;
}

/** What was verified, or signed, and is not there any more. */
export async function lostOf(
  store: Store,
  size: number,
  seen: readonly Seen[],
): Promise<LedgerBreak[]> {
  const longest = seen.reduce((a, b) => a.size >= b.size ? a : b, { size, by: "" });
  if (longest.size > size) {
    const reason = `Missing, with all after it: ${longest.by} knew ${longest.size} receipts`;
    return [{ position: size, check: "missing", reason, receiptId: null }];
  }
  const others: LedgerBreak[] = [];
  for (const { size: end, hash, by } of seen) {
    if (!hash) continue;
    const [there] = await exportReceipts(store, { from: end - 1, to: end });
    if (!there || there.hash === hash) continue; // a missing one is found on the way
    const reason = `It is not the receipt that ${by} knew at this position`;
    others.push({ position: end - 1, check: "head", reason, receiptId: there.id });
  }
  return others;
}

/** Keys that are not those which were published when the last pass ended. */
export function replacedKeys(known: ChainSnapshot, keys: readonly TrustedKey[]): LedgerBreak[] {
  const wrong =
    known.keys.find(({ publicKey, fromPosition }, n) =>
      keys[n]?.publicKey !== publicKey || keys[n]?.fromPosition !== fromPosition
    ) ?? keys.slice(known.keys.length).find(({ fromPosition }) => fromPosition < known.size);
  if (!wrong) return [];
  const reason = "The keys published for positions from here on are not those that were before";
  return [{ position: wrong.fromPosition, check: "keys", reason, receiptId: null }];
}
