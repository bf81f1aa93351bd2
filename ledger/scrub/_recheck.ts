import { setTimeout as sleep } from "node:timers/promises";
import type { Place } from "../rules/mod.ts";
import type { Store } from "../../store/mod.ts";
import type { LedgerBreak } from "./_span.ts";
import { openSpanVerifier } from "./_span_thread.ts";

/** What is to be verified again. */
export interface RecheckOrder {
  /** Pause between two times, milliseconds. */
  readonly everyMs: number;
  /** The place after what is verified now; undefined: nothing is yet. */
  readonly verified: () => Place | undefined;
  /** Told when it begins from the first receipt. */
  readonly onBegin: () => void;
  readonly onBreak: (found: LedgerBreak) => void;
  readonly signal: AbortSignal;
}

const PAGE = 500;
/** Of a core. */
const SHARE = 1 / 10;
const RETRY_MS = 5_000;

/**
 * Verifies again what a process goes by, from the first receipt, slowly and for ever; so that it need not believe what
 * the database says of any scrub.
 */
export async function recheck(store: Store, order: RecheckOrder): Promise<void> {
  const { everyMs, signal } = order;
  while (!signal.aborted) {
    const done = await once(store, order).then(() => true, () => false); // the database is away
    await sleep(done ? everyMs : RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

async function once(
  store: Store,
  { verified, onBegin, onBreak, signal }: RecheckOrder,
): Promise<void> {
  const end = verified();
  if (!end) return;
  onBegin();
  const verifier = openSpanVerifier(store, end.position, signal);
  let place: Place = { position: 0, previousHash: "" };
  let whole = true;
  try {
    while (place.position < end.position) {
      const span = await verifier.verify({
        ...{ from: place, to: end.position, most: PAGE, share: SHARE },
      });
      for (const found of span.breaks) onBreak(found);
      whole &&= span.breaks.length === 0;
      place = span.place;
    }
  } finally {
    await verifier.close();
  }
  if (whole && place.previousHash !== end.previousHash) {
    const reason = "It is not the receipt that was verified at this position";
    onBreak({ position: end.position - 1, check: "head", reason, receiptId: null });
  }
}
