import { listen, type Store } from "../store/mod.ts";
import { exportReceipts, head, ledgerKeys, type Stored } from "./read.ts";
import type { Break, Place } from "./rules.ts";
import { verifyReceipt } from "./verify.ts";

/** What is known of the stored chain. */
export interface ChainState {
  /** As of `verified_through`; null: nothing could be read yet. */
  readonly chain_intact: boolean | null;
  /** How many positions do not hold. */
  readonly breaks: number;
  /** Position of the newest receipt that was verified; -1: none. */
  readonly verified_through: number;
  /** Receipts there were at the last look. */
  readonly total: number;
  /** The first breaks, with their reasons. */
  readonly first_breaks: readonly Break[];
  /** False while the database is away. */
  readonly live: boolean;
}

/** Verifies the stored chain from its start, and then each receipt as it comes. */
export interface ChainWatch {
  state(): ChainState;
  /** Waits until everything that is stored now has been verified. */
  caughtUp(): Promise<ChainState>;
  close(): Promise<void>;
}

const PAGE = 500;
const POLL_MS = 5_000;
const MOST_BREAKS_KEPT = 100;

/** Starts to verify in the background; each receipt is looked at once. */
export async function watchChain(store: Store): Promise<ChainWatch> {
  const breaks: Break[] = [];
  let count = 0;
  let total = 0;
  let live = false;
  let closed = false;
  let place: Place = { position: 0, previousHash: "" };

  async function catchUp(): Promise<void> {
    const { size, hash } = await head(store);
    live = true;
    total = size;
    if (place.position === 0 && size === 0) return;
    const keys = await ledgerKeys(store);
    while (place.position < size && !closed) {
      const page = await exportReceipts(store, {
        from: place.position,
        to: Math.min(size, place.position + PAGE),
      });
      if (page.length === 0) {
        return void note(place.position, `Missing: the head says ${size} receipts`);
      }
      for (const receipt of page) check(receipt);
    }
    if (place.position === size && place.previousHash !== hash) {
      note(size - 1, "The newest receipt's hash is not that of the head");
    }

    function check(receipt: Stored): void {
      if (receipt.position !== place.position) {
        note(place.position, "Missing");
        place = { ...place, position: receipt.position };
      }
      const { verified, reasons } = verifyReceipt(receipt.text, place, keys);
      if (!verified) note(receipt.position, reasons.join("; "));
      else if (!matchesColumns(receipt)) {
        note(receipt.position, "Its index columns say other than its bytes");
      }
      place = {
        position: receipt.position + 1,
        previousHash: receipt.hash,
        previousEra: receipt.era,
      };
    }
  }

  const noted = new Set<number>();
  function note(position: number, reason: string): void {
    if (noted.has(position)) return;
    noted.add(position);
    count++;
    if (breaks.length < MOST_BREAKS_KEPT) breaks.push({ position, reason });
  }

  let running: Promise<void> | undefined;
  let again = false;
  const look = () => {
    if (running) {
      again = true;
      return;
    }
    running = catchUp().catch(() => {
      live = false;
    }).finally(() => {
      running = undefined;
      if (again && !closed) {
        again = false;
        look();
      }
    });
  };
  const listener = await listen(store, ["sealoop_sealed"], { onNotify: look, onConnect: look });
  const poll = setInterval(look, POLL_MS).unref();

  const state = (): ChainState => ({
    chain_intact: live ? count === 0 : null,
    breaks: count,
    verified_through: place.position - 1,
    total,
    first_breaks: breaks,
    live,
  });
  return {
    state,
    async caughtUp() {
      await running; // may have begun before what is stored now
      look();
      await running;
      return state();
    },
    async close() {
      closed = true;
      clearInterval(poll);
      await listener.close();
      await running;
    },
  };
}

function matchesColumns({ text, id, category, hash }: Stored): boolean {
  const record = JSON.parse(text);
  return record.id === id && record.category === category && record.hash_sha256 === hash;
}
