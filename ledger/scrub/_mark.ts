import { mkdir } from "node:fs/promises";
import { readIfPresent, writeDurably } from "../log/mod.ts";
import { listLedgerKeys } from "../receipts/mod.ts";
import type { Place } from "../rules/mod.ts";
import { dirname } from "node:path";
import { z } from "zod";
import type { Store } from "../../store/mod.ts";
import type { ChainSnapshot } from "./_scrub_ends.ts";

/** How far the chain is verified. */
export interface VerifiedMark extends ChainSnapshot {
  /** False: something did not hold since, so that all of it has to be verified again. */
  readonly whole: boolean;
}

/** The mark of one process and of those before it. */
export interface MarkKeeper {
  /** The newest; undefined: there is none. */
  read(): Promise<VerifiedMark | undefined>;
  /**
   * Keeps how far the chain is verified, at most every half minute; at once that it does not hold.
   *
   * @param place after what is verified
   * @param whole whether nothing is known that does not hold
   */
  keep(place: Place, whole: boolean, options?: { readonly now?: boolean }): Promise<void>;
}

const PAUSE_MS = 30_000;
const Hex = z.string().regex(/^[0-9a-f]{64}$/);
const Kept = z.object({
  size: z.number().int().min(1),
  hash: Hex,
  whole: z.boolean(),
  keys: z.array(z.object({ publicKey: Hex, fromPosition: z.number().int().min(0) })),
});

/**
 * Opens the file in which a mark is kept. It lies outside of the database, so that whoever can change only that can't make
 * a process believe that anything was verified; and is not signed, as whoever can write into the folder has the keys too.
 *
 * @param path undefined: nothing is kept
 * @param onTrouble told why it can't be read or written; all is verified again then
 */
export function openMark(
  store: Store,
  path: string | undefined,
  onTrouble: (error: unknown) => void,
): MarkKeeper {
  let mark: VerifiedMark | undefined;
  let isRead = false;
  let keptAt = 0;
  return {
    async read() {
      if (isRead || path === undefined) return mark;
      isRead = true;
      try {
        return mark = await readMark(path);
      } catch (error) {
        onTrouble(error);
        return undefined;
      }
    },
    async keep({ position, previousHash }, whole, { now = false } = {}) {
      if (path === undefined || position < (mark?.size ?? 1)) return;
      if (whole ? mark?.whole && mark.size === position : !mark?.whole) return;
      if (whole && !now && Date.now() - keptAt < PAUSE_MS) return;
      try {
        keptAt = Date.now();
        const fresh = { size: position, hash: previousHash, keys: await listLedgerKeys(store) };
        const next = { ...(whole ? fresh : mark!), whole };
        await mkdir(dirname(path), { recursive: true, mode: 0o711 });
        await writeDurably(path, `${JSON.stringify(next)}\n`, 0o600);
        mark = next;
      } catch (error) {
        onTrouble(error);
      }
    },
  };
}

async function readMark(path: string): Promise<VerifiedMark | undefined> {
  const text = await readIfPresent(path);
  if (text === undefined) return undefined;
  try {
    return Kept.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${path} is none that the ledger wrote`, { cause });
  }
}
