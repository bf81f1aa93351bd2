import { setTimeout as sleep } from "node:timers/promises";
import type { Place } from "../rules/mod.ts";
import type { SpanVerifier } from "./_span_verifier.ts";
import { type LedgerBreak, ledgerBreak } from "./breaks.ts";

/** Receipts to verify again, and the time for it. */
export interface RecheckOptions {
  /** Pause between two passes. */
  readonly intervalMs: number;
  /** Returns the place after the verified part; undefined while there is none. */
  readonly verified: () => Place | undefined;
  /** Called when a pass begins. */
  readonly onBegin: () => void;
  readonly onBreak: (found: LedgerBreak) => void;
  readonly signal: AbortSignal;
}

/** Few, as receipts that arrive wait for them. */
const PAGE = 50;
/** Share of a core. */
const SHARE = 1 / 10;
const RETRY_MS = 5_000;

/**
 * Verifies the verified part again and again, slowly, from the first receipt. So a process does not depend on what the
 * database says about the scrub.
 */
export async function recheck(verifier: SpanVerifier, options: RecheckOptions): Promise<void> {
  const { intervalMs, signal } = options;
  while (!signal.aborted) {
    const isDone = await verifyAgain(verifier, options).then(
      () => true,
      () => false, // the database is unavailable
    );
    await sleep(isDone ? intervalMs : RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

async function verifyAgain(
  verifier: SpanVerifier,
  { verified, onBegin, onBreak, signal }: RecheckOptions,
): Promise<void> {
  const end = verified();
  if (!end) return;
  onBegin();
  let place: Place = { position: 0, previousHash: "" };
  let isWhole = true;
  while (place.position < end.position) {
    const started = performance.now();
    const span = await verifier.verify({
      from: place,
      to: end.position,
      maxReceipts: PAGE,
      share: 1,
    });
    for (const found of span.breaks) onBreak(found);
    isWhole &&= span.breaks.length === 0;
    place = span.place;
    const worked = performance.now() - started;
    await sleep(worked * (1 / SHARE - 1), undefined, { signal, ref: false });
  }
  if (isWhole && place.previousHash !== end.previousHash) {
    const reason = "This is not the receipt that was verified at this position";
    onBreak(ledgerBreak(end.position - 1, "head", reason));
  }
}
