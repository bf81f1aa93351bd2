import type { Store } from "../../store/mod.ts";
import { getAnchorTotals } from "../anchors/mod.ts";
import type { LogSettings } from "../log/mod.ts";
import { findStoredKeyBreaks, getHead, listLedgerKeys } from "../receipts/mod.ts";
import type { Hash, Place } from "../rules/mod.ts";
import {
  type ChainSnapshot,
  checkHead,
  findLostReceipts,
  findReplacedKeys,
  type KnownEnd,
} from "./_chain_end.ts";
import {
  type CheckpointRoot,
  type CompactRange,
  findTileMismatches,
  growTree,
  readCheckpoint,
} from "./_log_checks.ts";
import { type SpanResult, verifySpan } from "./_span.ts";
import { beginPass, finishPass, getScrub, setPosition, setVerified } from "./_state.ts";
import { listOpenBreaks, MAX_STORED_BREAKS, recordBreaks, recordHealed } from "./_stored_breaks.ts";
import { checkAnchors, checkAnchorTotals } from "./anchor_checks.ts";
import { type LedgerBreak, ledgerBreak } from "./breaks.ts";

/** The progress of a pass: all that its next part needs. */
export interface ScrubPass {
  /** Its number, from 1. */
  readonly pass: number;
  /** Number of receipts that it verifies. */
  readonly size: number;
  /** The place of the next receipt to verify. */
  readonly place: Place;
  /** The Merkle tree of the verified receipts; null if a leaf of it is missing. */
  readonly tree: CompactRange | null;
  /** The newest signed checkpoint, as it is kept outside of the database; null if there is none. */
  readonly checkpoint: CheckpointRoot | null;
  /** The chain as the last pass has verified it; null if there was none. */
  readonly known: ChainSnapshot | null;
  /** True if something that was known is missing or different. */
  readonly lost: boolean;
  /** Number of breaks so far. */
  readonly found: number;
}

/** The result of a pass. */
export interface ScrubResult {
  /** Its number, from 1. */
  readonly pass: number;
  /** Number of receipts that it has verified. */
  readonly verified: number;
  /** Number of positions that do not hold now. */
  readonly breaks: number;
  /** For the next pass. */
  readonly known: ChainSnapshot;
}

/** The parts that a scrub works with. */
export interface ScrubParts {
  /** As role `worker`: it reads receipts, stores breaks, and requests receipts of them. */
  readonly store: Store;
  /** Files of the Merkle log. */
  readonly log: Pick<LogSettings, "keyFile" | "checkpointFile">;
  /** Receives each new break. */
  readonly onBreak: (found: LedgerBreak) => void;
  /** Receives the reason when the checkpoint cannot be compared. */
  readonly onError: (error: unknown) => void;
}

/** Receipts of one part. An interrupted part is verified again. */
const PART_SIZE = 5_000;
/** Maximum receipts after the end of the pass that are verified with each part. */
const MAX_FOLLOWED = 2_000;
/** Share of a core. */
const SHARE = 1 / 3;

/**
 * Begins a pass over all stored receipts. First looks whether what was known of the chain before is still there.
 *
 * @param known the result of the last pass
 */
export async function beginScrub(
  parts: ScrubParts,
  known: ChainSnapshot | null,
): Promise<ScrubPass> {
  const { store } = parts;
  // Checkpoint and anchors are read before the head, which is never behind them.
  const checkpoint = await readCheckpoint(parts.log, parts.onError);
  const { nextPosition } = await getAnchorTotals(store);
  const [{ size }, scrub, keys] = await Promise.all([
    getHead(store),
    getScrub(store.asPlatform()),
    listLedgerKeys(store),
  ]);
  const knownEnds: KnownEnd[] = [{ size: nextPosition, knownBy: "the newest anchor" }];
  if (checkpoint) knownEnds.push({ size: checkpoint.size, knownBy: "the signed checkpoint" });
  if (known) knownEnds.push({ size: known.size, hash: known.hash, knownBy: "the last pass" });
  if (scrub) {
    const { position, previousHash } = scrub.verified;
    knownEnds.push({ size: position, hash: previousHash, knownBy: "an earlier pass" });
  }
  const lost = [
    ...await findLostReceipts(store, size, knownEnds),
    ...known ? findReplacedKeys(known, keys) : [],
  ];
  return await store.asPlatform().transaction(async (trx) => {
    const pass = await beginPass(trx, size);
    await recordBreaks(trx, { pass, found: 0 }, lost, parts.onBreak);
    return {
      pass,
      size,
      place: { position: 0, previousHash: "" },
      tree: [],
      checkpoint,
      known,
      lost: lost.length > 0,
      found: lost.length,
    };
  });
}

/** Verifies the next part of a pass, and stores and seals the breaks. Safe to repeat. */
export async function scrubPart(
  parts: ScrubParts,
  pass: ScrubPass,
  signal?: AbortSignal,
): Promise<ScrubPass> {
  const { store } = parts;
  const leaves = new Map<number, Hash>();
  const span = await verifySpan(
    store,
    { from: pass.place, to: pass.size, maxReceipts: PART_SIZE, share: SHARE },
    { signal, onLeaf: (position, leaf) => void leaves.set(position, leaf) },
  );
  const { place } = span;
  const { tree, breaks } = await compareWithLog(parts, pass, span, leaves);
  const broken = new Set(breaks.map(({ position }) => position));
  const range = { from: pass.place.position, to: place.position };
  const anchorBreaks = await checkAnchors(store, range, broken);
  breaks.push(...anchorBreaks.filter(({ position }) => !broken.has(position)));
  await store.asPlatform().transaction(async (trx) => {
    await recordBreaks(trx, pass, breaks, parts.onBreak);
    if (!pass.lost) await setVerified(trx, place); // else this is not the chain that was verified before
    await setPosition(trx, pass.pass, place.position);
  });
  const next = { ...pass, place, tree, found: pass.found + breaks.length };
  return pass.lost ? next : await followNewReceipts(parts, next, signal);
}

/** Compares a verified part with the Merkle log. @returns the tree after the part, and the breaks of part and log */
async function compareWithLog(
  { store }: ScrubParts,
  pass: ScrubPass,
  { place, breaks }: SpanResult,
  leaves: ReadonlyMap<number, Hash>,
): Promise<{ readonly tree: CompactRange | null; readonly breaks: LedgerBreak[] }> {
  const broken = new Set(breaks.map(({ position }) => position));
  const mismatches = (await findTileMismatches(store, leaves))
    .filter((position) => !broken.has(position))
    .map((position) =>
      ledgerBreak(position, "log", "The Merkle log has another receipt at this position")
    );
  const all = [...breaks, ...mismatches];
  const isComplete = leaves.size === place.position - pass.place.position;
  if (!pass.tree || !isComplete) return { tree: null, breaks: all };
  const { tree, mismatch } = growTree(pass.tree, leaves, pass.checkpoint);
  // The checkpoint differs by any other break, too; it is a break of its own only if there is none.
  if (mismatch && all.length + pass.found === 0) all.push(mismatch);
  return { tree, breaks: all };
}

/** Verifies receipts sealed after the pass began, so that a process that starts finds few that are not verified. */
async function followNewReceipts(
  parts: ScrubParts,
  pass: ScrubPass,
  signal: AbortSignal | undefined,
): Promise<ScrubPass> {
  const { store } = parts;
  const from = (await getScrub(store.asPlatform()))?.verified;
  if (!from || from.position < pass.size) return pass; // the pass itself is not there yet
  const { size: to } = await getHead(store);
  const request = { from, to, maxReceipts: MAX_FOLLOWED, share: SHARE };
  const { place, breaks } = await verifySpan(store, request, { signal });
  if (place.position === from.position) return pass;
  await store.asPlatform().transaction(async (trx) => {
    await recordBreaks(trx, pass, breaks, parts.onBreak);
    await setVerified(trx, place);
  });
  return { ...pass, found: pass.found + breaks.length };
}

/**
 * Ends a pass: compares the head of the chain and the totals of the anchors, and looks for the receipts that introduce the
 * published keys. Safe to repeat.
 */
export async function endScrub(parts: ScrubParts, pass: ScrubPass): Promise<ScrubResult> {
  const { store } = parts;
  const keys = await listLedgerKeys(store);
  const unproven = (await findStoredKeyBreaks(store, keys))
    .map(({ position, reason }) => ledgerBreak(position, "keys", reason));
  const breaks = [...await checkHead(store), ...await checkAnchorTotals(store), ...unproven];
  const found = pass.found + breaks.length;
  const moreBreaks = Math.max(0, found - MAX_STORED_BREAKS);
  await store.asPlatform().transaction(async (trx) => {
    await recordBreaks(trx, pass, breaks, parts.onBreak);
    await recordHealed(trx, pass.pass);
    await finishPass(trx, pass.pass, moreBreaks);
  });
  const { count } = await listOpenBreaks(store.asPlatform(), 1);
  const verified = { size: pass.size, hash: pass.place.previousHash, keys };
  return {
    pass: pass.pass,
    verified: pass.size,
    breaks: Math.max(count + moreBreaks, found > 0 ? 1 : 0), // the stored rows may have been removed
    known: pass.lost && pass.known ? pass.known : verified, // what was lost must not be forgotten
  };
}
