import type { Store } from "../../store/mod.ts";
import { loadSigningKey } from "../crypto/mod.ts";
import { BadNote, type LogSettings, parseOwnCheckpoint, readIfPresent } from "../log/mod.ts";
import type { Hash, Place } from "../rules/mod.ts";
import {
  beginPass,
  finishPass,
  notePlace,
  noteVerified,
  openBreaks,
  readScrub,
} from "./_scrub_rows.ts";
import { getAnchorTotals } from "../anchors/mod.ts";
import { getHead, listLedgerKeys } from "../receipts/mod.ts";
import { anchorBreaks, totalsBreaks } from "./_scrub_anchors.ts";
import { appendLeaf, type CompactRange, compactRangeRoot } from "./_range.ts";
import { heal, keep, MOST_KEPT } from "./_scrub_breaks.ts";
import { type ChainSnapshot, headBreaks, lostOf, replacedKeys } from "./_scrub_ends.ts";
import { findTileMismatches, type LedgerBreak, verifySpan } from "./_span.ts";

export type { CompactRange } from "./_range.ts";
export type { ChainSnapshot } from "./_scrub_ends.ts";
export type { FailedCheck, LedgerBreak } from "./_span.ts";

/** How far a pass is; all that its next part needs. */
export interface ScrubPass {
  /** Its number, from 1. */
  readonly pass: number;
  /** Where it ends, exclusive. */
  readonly size: number;
  /** How far it is. */
  readonly place: Place;
  /** The Merkle tree of what was verified; null: a leaf of it is missing. */
  readonly tree: CompactRange | null;
  /** The newest checkpoint that was signed, as it is kept outside of the database; null: there is none. */
  readonly checkpoint: { readonly size: number; readonly root: string } | null;
  /** What the last pass knew; null: there was none. */
  readonly known: ChainSnapshot | null;
  /** Something of that is not there any more. */
  readonly lost: boolean;
  /** Breaks so far. */
  readonly found: number;
}

/** How a pass ended. */
export interface ScrubResult {
  /** Its number, from 1. */
  readonly pass: number;
  /** Receipts that it has looked at. */
  readonly verified: number;
  /** Positions that do not hold now. */
  readonly breaks: number;
  /** For the next pass. */
  readonly known: ChainSnapshot;
}

/** What a scrub works with. */
export interface ScrubParts {
  /** Of role `app`: it reads receipts, keeps what it finds, and asks for receipts of it. */
  readonly store: Store;
  /** Where the log keeps its checkpoint. */
  readonly log: Pick<LogSettings, "keyFile" | "checkpointFile">;
  /** Told of each break that is new. */
  readonly onBreak: (found: LedgerBreak) => void;
  /** Told what can't be compared, and why. */
  readonly onError: (error: unknown) => void;
}

/** Receipts in a part. What a part has verified is verified again where it is cut off. */
const PART = 5_000;
/** Receipts beyond the end of the pass that are verified with each part. */
const MOST_FOLLOWED = 2_000;
/** Of a core. */
const SHARE = 1 / 3;

/**
 * Begins a pass over all that is stored now, from the first receipt. It first looks whether what was known of the chain
 * before is still there.
 *
 * @param known what the last pass gave
 */
export async function beginScrub(
  parts: ScrubParts,
  known: ChainSnapshot | null,
): Promise<ScrubPass> {
  const { store } = parts;
  const checkpoint = await signedCheckpoint(parts); // before the head, which is never shorter
  const { nextPosition } = await getAnchorTotals(store);
  const [{ size }, row, keys] = await Promise.all([
    getHead(store),
    readScrub(store.asPlatform()),
    listLedgerKeys(store),
  ]);
  const seen = [
    ...(checkpoint ? [{ size: checkpoint.size, by: "the signed checkpoint" }] : []),
    { size: nextPosition, by: "the newest anchor" },
    ...(known ? [{ ...known, by: "the last pass" }] : []),
    ...(row
      ? [{ size: row.verified.position, hash: row.verified.previousHash, by: "a pass" }]
      : []),
  ];
  const lost = [...await lostOf(store, size, seen), ...(known ? replacedKeys(known, keys) : [])];
  return await store.asPlatform().transaction(async (trx) => {
    const pass = await beginPass(trx, size);
    await keep(trx, parts, { pass, found: 0 }, lost);
    const place = { position: 0, previousHash: "" };
    const found = lost.length;
    return { pass, size, place, tree: [], checkpoint, known, lost: found > 0, found };
  });
}

/** The checkpoint that is kept; null: there is none, or not one that the log's key has signed. */
async function signedCheckpoint(
  { log, onError }: ScrubParts,
): Promise<ScrubPass["checkpoint"]> {
  const note = await readIfPresent(log.checkpointFile);
  if (note === undefined) return null;
  try {
    const { size, root } = parseOwnCheckpoint(note, loadSigningKey(log.keyFile).publicKey);
    return { size, root: Buffer.from(root).toString("hex") };
  } catch (error) {
    if (!(error instanceof BadNote)) throw error;
    onError(error);
    return null;
  }
}

/** Verifies the next part of a pass, and keeps and seals what does not hold. Safe to repeat. */
export async function scrubPart(
  parts: ScrubParts,
  at: ScrubPass,
  signal?: AbortSignal,
): Promise<ScrubPass> {
  const leaves = new Map<number, Hash>();
  const { place, breaks } = await verifySpan(parts.store, {
    from: at.place,
    to: at.size,
    most: PART,
    share: SHARE,
    signal,
    onLeaf: (position, leaf) => void leaves.set(position, leaf),
  });
  const { tree, wrong } = growTree(at, place.position, leaves);
  const strange = await findTileMismatches(parts.store, leaves);
  const broken = new Set(breaks.map(({ position }) => position));
  const all = [
    ...breaks,
    ...strange.filter((position) => !broken.has(position)).map((position) =>
      ofLog(position, "The Merkle log has another receipt at this position")
    ),
    ...(wrong && breaks.length + strange.length + at.found === 0 ? [wrong] : []),
  ];
  const span = { from: at.place.position, to: place.position };
  const known = new Set(all.map(({ position }) => position));
  const anchors = await anchorBreaks(parts.store, span, known);
  all.push(...anchors.filter(({ position }) => !known.has(position)));
  await parts.store.asPlatform().transaction(async (trx) => {
    await keep(trx, parts, at, all);
    if (!at.lost) await noteVerified(trx, place); // else it is not the chain that was verified before
    await notePlace(trx, at.pass, place.position);
  });
  const next = { ...at, place, tree, found: at.found + all.length };
  return at.lost ? next : await followEnd(parts, next, signal);
}

/** Verifies what came after the pass had begun, so that a server which starts finds little that nobody has verified. */
async function followEnd(
  parts: ScrubParts,
  at: ScrubPass,
  signal: AbortSignal | undefined,
): Promise<ScrubPass> {
  const { store } = parts;
  const from = (await readScrub(store.asPlatform()))?.verified;
  if (!from || from.position < at.size) return at; // the pass itself comes there first
  const { size: to } = await getHead(store);
  const span = { from, to, most: MOST_FOLLOWED, share: SHARE, signal };
  const { place, breaks } = await verifySpan(store, span);
  if (place.position === from.position) return at;
  await store.asPlatform().transaction(async (trx) => {
    await keep(trx, parts, at, breaks);
    await noteVerified(trx, place);
  });
  return { ...at, found: at.found + breaks.length };
}

/** Ends a pass: compares its end with the head, and with what was known before. Safe to repeat. */
export async function endScrub(parts: ScrubParts, at: ScrubPass): Promise<ScrubResult> {
  const { store } = parts;
  const all = [...await headBreaks(store), ...await totalsBreaks(store)];
  const found = at.found + all.length;
  const more = Math.max(0, found - MOST_KEPT);
  await store.asPlatform().transaction(async (trx) => {
    await keep(trx, parts, at, all);
    await heal(trx, at.pass);
    await finishPass(trx, at.pass, more);
  });
  const { count } = await openBreaks(store.asPlatform(), 1);
  const now = { size: at.size, hash: at.place.previousHash, keys: await listLedgerKeys(store) };
  const known = at.lost && at.known ? at.known : now; // what was lost is not to be forgotten
  const breaks = Math.max(count + more, found > 0 ? 1 : 0); // somebody may have removed the rows
  return { pass: at.pass, verified: at.size, breaks, known };
}

/** Adds leaves to the tree, if none is missing, and compares its root with the checkpoint's when it is as large. */
function growTree(
  { tree, place, checkpoint }: ScrubPass,
  to: number,
  leaves: ReadonlyMap<number, Hash>,
): { tree: CompactRange | null; wrong?: LedgerBreak } {
  if (!tree || leaves.size !== to - place.position) return { tree: null };
  let grown = tree;
  let wrong: LedgerBreak | undefined;
  for (const [position, leaf] of leaves) {
    grown = appendLeaf(grown, position, leaf);
    const size = position + 1;
    if (size === checkpoint?.size && compactRangeRoot(grown) !== checkpoint.root) {
      wrong = ofLog(position, `The first ${size} receipts are not those of the signed checkpoint`);
    }
  }
  return { tree: grown, wrong };
}

const ofLog = (position: number, reason: string): LedgerBreak => ({
  ...{ position, check: "log", reason, receiptId: null },
});
