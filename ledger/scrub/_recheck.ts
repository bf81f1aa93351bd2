import { setTimeout as sleep } from "node:timers/promises";
import type { Place } from "../rules/mod.ts";
import type { SpanRequest, SpanResult } from "./_span.ts";
import type { SpanVerifier } from "./_span_verifier.ts";
import { type LedgerBreak, ledgerBreak } from "./breaks.ts";

/** A finished recheck. */
export interface Recheck {
  /** Number of receipts that the verified part had when it began. */
  readonly size: number;
  /** Number of receipts that were there and were verified: `size`, unless some are missing. */
  readonly verified: number;
}

/** Receipts to verify again, and the time for it. */
export interface RecheckOptions {
  /** Pause between two passes. */
  readonly intervalMs: number;
  /** Returns the place after the verified part; undefined while there is none. */
  readonly verified: () => Place | undefined;
  /** Called when a pass begins. */
  readonly onBegin: () => void;
  readonly onBreak: (found: LedgerBreak) => void;
  /** Called when a pass has ended. */
  readonly onEnd: (recheck: Recheck) => void;
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
  try {
    while (!signal.aborted) {
      await verifyAgain(verifier, options);
      await sleep(intervalMs, undefined, { signal, ref: false });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function verifyAgain(
  verifier: SpanVerifier,
  { verified, onBegin, onBreak, onEnd, signal }: RecheckOptions,
): Promise<void> {
  const end = verified();
  if (!end) return;
  onBegin();
  let place: Place = { position: 0, previousHash: "" };
  let count = 0;
  let isWhole = true;
  while (place.position < end.position) {
    const started = performance.now();
    const request = { from: place, to: end.position, maxReceipts: PAGE, share: 1 };
    const span = await verifyOnceAvailable(verifier, request, signal);
    for (const found of span.breaks) onBreak(found);
    isWhole &&= span.breaks.length === 0;
    place = span.place;
    count += span.verified;
    const worked = performance.now() - started;
    await sleep(worked * (1 / SHARE - 1), undefined, { signal, ref: false });
  }
  if (isWhole && place.previousHash !== end.previousHash) {
    const reason = "This is not the receipt that was verified at this position";
    onBreak(ledgerBreak(end.position - 1, "head", reason));
  }
  onEnd({ size: end.position, verified: count });
}

/** Verifies a part, again while the database is unavailable. @throws where the signal is aborted */
async function verifyOnceAvailable(
  verifier: SpanVerifier,
  request: SpanRequest,
  signal: AbortSignal,
): Promise<SpanResult> {
  while (true) {
    try {
      return await verifier.verify(request);
    } catch {
      await sleep(RETRY_MS, undefined, { signal, ref: false });
    }
  }
}
