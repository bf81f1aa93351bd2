import type { Break, Era } from "../rules/mod.ts";
import type { Chunk, Row } from "./check.ts";

/**
 * What may be said of the chain. `intact`: every receipt from the first to the newest was checked here, and holds;
 * `part`: what was checked holds, and some was not; `broken`: something does not hold; `nothing`: nothing was checked.
 */
export type State = "nothing" | "part" | "intact" | "broken";

/** How far the checks have come, and what they found. */
export interface Summary {
  readonly state: State;
  readonly checked: number;
  /** Receipts that there are, as the server says. */
  readonly total: number;
  /** By position. A fault of the whole has the position at which the chain ends. */
  readonly breaks: readonly Break[];
  /** Stretches that were checked: from inclusive, to exclusive; sorted and apart. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
  readonly eras: Readonly<Record<Era, number>>;
  readonly days: ReadonlyMap<string, number>;
  readonly categories: ReadonlyMap<string, number>;
  /** Newest first. */
  readonly rows: readonly Row[];
}

/** Adds up what is checked. Chunks may come in any order; none may overlap another. */
export interface Tally {
  /** The server says how many receipts there are, and the newest one's hash. */
  head(size: number, hash: string): void;
  /** It was known before that the first `size` receipts end with a hash. @param source who says it */
  known(size: number, hash: string, source: string): void;
  add(chunk: Chunk): void;
  summary(): Summary;
}

const MOST_ROWS = 20;
const HEAD = "what the server calls its newest hash";

/** Starts with nothing checked. */
export function createTally(): Tally {
  let total = 0;
  let ranges: (readonly [number, number])[] = [];
  let rows: Row[] = [];
  const breaks = new Map<number, string>();
  const joints = new Map<number, Map<string, string>>();
  const eras: Record<Era, number> = { 1: 0, 2: 0, 3: 0 };
  const [days, categories] = [new Map<string, number>(), new Map<string, number>()];

  /** All who say with which hash the first `size` receipts end must say the same. */
  function joint(size: number, hash: string, source: string): void {
    const said = joints.get(size) ?? new Map<string, string>();
    joints.set(size, said);
    for (const [other, otherHash] of said) {
      if (otherHash === hash) continue;
      note(size - 1, `Its hash is ${otherHash} in ${other}, and ${hash} in ${source}`);
    }
    said.set(source, hash);
  }

  function note(position: number, reason: string): void {
    const before = breaks.get(position);
    if (before === undefined) breaks.set(position, reason);
    else if (!before.includes(reason)) breaks.set(position, `${before}; ${reason}`);
  }

  function state(checked: number): State {
    if (breaks.size > 0) return "broken";
    if (checked === 0) return "nothing";
    const newest = joints.get(total);
    const whole = ranges.length === 1 && ranges[0]![0] === 0 && ranges[0]![1] === total;
    return whole && newest?.has(HEAD) && newest.has(endOf(total)) ? "intact" : "part";
  }

  return {
    head(size, hash) {
      if (size < total) note(size, `The chain was ${total} long, and the server now says ${size}`);
      total = Math.max(total, size);
      if (size > 0) joint(size, hash, HEAD);
    },
    known(size, hash, source) {
      if (size > total) note(total, `The chain was ${size} long in ${source}, and is ${total} now`);
      joint(size, hash, source);
    },
    add(chunk) {
      const { from, to, hashBefore, lastHash } = chunk;
      if (from > 0 && hashBefore !== undefined) {
        joint(from, hashBefore, `the record before #${from}`);
      }
      if (lastHash !== undefined) joint(to, lastHash, endOf(to));
      for (const { position, reason } of chunk.breaks) note(position, reason);
      ranges = joined([...ranges, [chunk.from, chunk.to]]);
      for (const era of [1, 2, 3] as const) eras[era] += chunk.eras[era];
      merge(days, chunk.days);
      merge(categories, chunk.categories);
      rows = [...rows, ...chunk.rows].sort((a, b) => b.position - a.position).slice(0, MOST_ROWS);
    },
    summary() {
      const checked = ranges.reduce((sum, [from, to]) => sum + to - from, 0);
      const sorted = [...breaks].sort(([a], [b]) => a - b);
      return {
        ...{ state: state(checked), checked, total, ranges, eras, days, categories, rows },
        breaks: sorted.map(([position, reason]) => ({ position, reason })),
      };
    },
  };
}

const endOf = (size: number) => `the record at #${size - 1}`;

/** Puts stretches together that touch or overlap. */
export function joined(ranges: (readonly [number, number])[]): (readonly [number, number])[] {
  const result: (readonly [number, number])[] = [];
  for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last && from <= last[1]) result[result.length - 1] = [last[0], Math.max(last[1], to)];
    else result.push([from, to]);
  }
  return result;
}

function merge(into: Map<string, number>, from: Readonly<Record<string, number>>): void {
  for (const [name, n] of Object.entries(from)) into.set(name, (into.get(name) ?? 0) + n);
}

/**
 * Cuts a stretch of the chain into chunks, so that each of `cuts` is the end of one.
 *
 * @param size most receipts of a chunk, > 0
 */
export function planned(
  from: number,
  to: number,
  size: number,
  cuts: readonly number[] = [],
): { readonly from: number; readonly to: number }[] {
  const ends = [...new Set([...cuts.filter((cut) => cut > from && cut < to), to])]
    .sort((a, b) => a - b);
  const chunks: { from: number; to: number }[] = [];
  let at = from;
  for (const end of ends) {
    for (; at < end; at = Math.min(at + size, end)) {
      chunks.push({ from: at, to: Math.min(at + size, end) });
    }
  }
  return chunks;
}

/** What of a chain of `total` receipts was not checked. */
export function gaps(
  ranges: Summary["ranges"],
  total: number,
): (readonly [from: number, to: number])[] {
  const found: (readonly [number, number])[] = [];
  let at = 0;
  for (const [from, to] of ranges) {
    if (from > at) found.push([at, from]);
    at = Math.max(at, to);
  }
  if (at < total) found.push([at, total]);
  return found;
}
