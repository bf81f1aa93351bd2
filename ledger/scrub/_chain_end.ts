import type { Store } from "../../store/mod.ts";
import { exportReceipts } from "../receipts/mod.ts";
import type { TrustedKey } from "../rules/mod.ts";
import { type LedgerBreak, ledgerBreak } from "./breaks.ts";

/** The chain as a finished pass has verified it. It is kept outside of the database until the next pass. */
export interface ChainSnapshot {
  readonly size: number;
  /** Hash of the newest receipt, hex. */
  readonly hash: string;
  readonly keys: readonly TrustedKey[];
}

/** Compares the head of the chain with the newest receipt. */
export async function checkHead(store: Store): Promise<LedgerBreak[]> {
  const row = await store.asPlatform().first(
    `SELECT head.size, head.hash, (SELECT max(position) FROM receipts) AS last,
       (SELECT hash FROM receipts WHERE position = head.size - 1) AS newest_hash
     FROM ledger_head head`,
  );
  const { hash, last, newest_hash } = row!;
  const size = Number(row!.size);
  const breaks: LedgerBreak[] = [];
  if (last !== null && Number(last) >= size) {
    breaks.push(ledgerBreak(size, "head", `The head says ${size} receipts, but there are more`));
  }
  if (size > 0 && newest_hash && (hash === null || !newest_hash.equals(hash))) {
    breaks.push(ledgerBreak(size - 1, "head", "The head is not the hash of the newest receipt"));
  }
  return breaks;
}

/** An earlier end of the chain, and who knows it. */
export interface KnownEnd {
  readonly size: number;
  /** Hash of the newest receipt, hex; undefined if only the size is known. */
  readonly hash?: string;
  readonly knownBy: string;
}

/** Finds receipts that are known from before, and are missing or different now. @param size receipts there are now */
export async function findLostReceipts(
  store: Store,
  size: number,
  known: readonly KnownEnd[],
): Promise<LedgerBreak[]> {
  const longest = known.reduce((a, b) => a.size >= b.size ? a : b, { size, knownBy: "" });
  if (longest.size > size) {
    const reason = `Missing, with all after it: ${longest.knownBy} knew ${longest.size} receipts`;
    return [ledgerBreak(size, "missing", reason)];
  }
  const breaks: LedgerBreak[] = [];
  for (const { size: end, hash, knownBy } of known) {
    if (!hash) continue;
    const [receipt] = await exportReceipts(store, { from: end - 1, to: end });
    if (!receipt || receipt.hash === hash) continue; // the pass itself finds missing ones
    const reason = `This is not the receipt that ${knownBy} knew at this position`;
    breaks.push(ledgerBreak(end - 1, "head", reason, receipt.id));
  }
  return breaks;
}

/** Finds keys that differ from those published when a pass ended. */
export function findReplacedKeys(
  known: ChainSnapshot,
  keys: readonly TrustedKey[],
): LedgerBreak[] {
  const changed = known.keys.find(({ publicKey, fromPosition }, n) =>
    keys[n]?.publicKey !== publicKey || keys[n]?.fromPosition !== fromPosition
  );
  const inserted = keys.slice(known.keys.length).find((key) => key.fromPosition < known.size);
  const wrong = changed ?? inserted;
  if (!wrong) return [];
  const reason = "The keys published from this position on are not those published before";
  return [ledgerBreak(wrong.fromPosition, "keys", reason)];
}
