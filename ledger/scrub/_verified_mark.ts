import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import type { Store } from "../../store/mod.ts";
import { readIfPresent, writeDurably } from "../log/mod.ts";
import { listLedgerKeys } from "../receipts/mod.ts";
import type { Place } from "../rules/mod.ts";
import type { ChainSnapshot } from "./_chain_end.ts";

/** The verified part of the chain, as a process leaves it to the next one. */
export interface VerifiedMark extends ChainSnapshot {
  /** False if a break is known, so that everything must be verified again. */
  readonly whole: boolean;
}

/** The file that holds the mark. */
export interface MarkFile {
  /** Reads the mark; undefined if there is none. */
  read(): Promise<VerifiedMark | undefined>;
  /**
   * Saves the mark: at most every half minute, but at once if there is a first break.
   *
   * @param place after the verified part
   * @param whole true if no break is known
   */
  save(place: Place, whole: boolean, options?: { readonly now?: boolean }): Promise<void>;
}

const SAVE_INTERVAL_MS = 30_000;
const Hex = z.string().regex(/^[0-9a-f]{64}$/);
const Mark = z.object({
  size: z.number().int().min(1),
  hash: Hex,
  whole: z.boolean(),
  keys: z.array(z.object({ publicKey: Hex, fromPosition: z.number().int().min(0) })),
});

/**
 * Opens the mark file. It is outside of the database, so whoever can only change the database cannot mark receipts as
 * verified. It is not signed: whoever can write into its folder has the keys, too.
 *
 * @param path undefined: nothing is saved
 * @param onError receives why the file cannot be read or written; everything is verified again then
 */
export function openMark(
  store: Store,
  path: string | undefined,
  onError: (error: unknown) => void,
): MarkFile {
  if (path === undefined) {
    return { read: () => Promise.resolve(undefined), save: () => Promise.resolve() };
  }
  let mark: VerifiedMark | undefined;
  let isRead = false;
  let savedAt = 0;
  return {
    async read() {
      if (isRead) return mark;
      isRead = true;
      try {
        return mark = await readMark(path);
      } catch (error) {
        onError(error);
        return undefined;
      }
    },
    async save({ position, previousHash }, whole, { now = false } = {}) {
      if (position < (mark?.size ?? 1)) return;
      const isSame = whole ? mark?.whole && mark.size === position : !mark?.whole;
      if (isSame) return;
      if (whole && !now && Date.now() - savedAt < SAVE_INTERVAL_MS) return;
      try {
        savedAt = Date.now();
        const next = whole
          ? { size: position, hash: previousHash, keys: await listLedgerKeys(store), whole }
          : { ...mark!, whole };
        await mkdir(dirname(path), { recursive: true, mode: 0o711 });
        await writeDurably(path, `${JSON.stringify(next)}\n`, 0o600);
        mark = next;
      } catch (error) {
        onError(error);
      }
    },
  };
}

async function readMark(path: string): Promise<VerifiedMark | undefined> {
  const text = await readIfPresent(path);
  if (text === undefined) return undefined;
  try {
    return Mark.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`Cannot use ${path}: it is not a mark that the ledger wrote`, { cause });
  }
}
