import {
  addPlacePositions,
  type Break,
  type Era,
  findPlaceBreaks,
  type Hash,
  type KeyProof,
  openPlacePositions,
  type Sha256,
} from "../../rules/mod.ts";
import {
  createTreeCheck,
  describeUnproven,
  judgeEras,
  type Judgement,
  NOTHING_PINNED,
  type Trust,
} from "../../trust/mod.ts";
import type { CheckedRange, ReceiptRow } from "./check_range.ts";
import { joinRanges, type PositionRange } from "./ranges.ts";

/**
 * The state of the chain. `intact`: all receipts were checked here, and all hold; `part`: all receipts checked so far
 * hold; `broken`: some do not; `unproven`: something that the visitor has pinned is not there; `nothing`: none was checked.
 */
export type CheckState = "nothing" | "part" | "intact" | "unproven" | "broken";

/** The progress and the results of the checks. */
export interface CheckSummary {
  readonly state: CheckState;
  readonly checked: number;
  /** Number of receipts that the server reports. */
  readonly total: number;
  /** Breaks by position. A break of the whole chain has the position of its end. */
  readonly breaks: readonly Break[];
  /** Pinned facts that are not there, so that nobody can tell whether they hold. */
  readonly absent: readonly string[];
  /** Ranges that were checked: from inclusive, to exclusive; sorted, and with gaps between them. */
  readonly ranges: readonly PositionRange[];
  readonly eras: Readonly<Record<Era, number>>;
  readonly days: ReadonlyMap<string, number>;
  readonly categories: ReadonlyMap<string, number>;
  /** Newest first. */
  readonly rows: readonly ReceiptRow[];
  /** Position from which only who knows the key has it proven; undefined: there is none. */
  readonly unproven: number | undefined;
}

/** Adds up checked ranges. They may come in any order, but must not overlap. */
export interface Tally {
  /** Sets the size of the chain, and the hash of its newest receipt, as the server reports them. */
  setHead(size: number, hash: string): void;
  /** Adds that the first `size` receipts are known to end with a hash. @param source for messages */
  addKnownEnd(size: number, hash: string, source: string): void;
  /** Sets which published keys receipts introduce. */
  setKeys(proof: KeyProof): void;
  /** Adds what was found out about the checkpoint that the server shows. */
  setCheckpoint(judgement: Judgement): void;
  /** True if checked ranges need leaves, to be compared with a checkpoint. */
  wantsLeaves(): boolean;
  add(checked: CheckedRange): void;
  summary(): CheckSummary;
}

const MAX_ROWS = 20;
const SERVER = "the server’s statistics";

/** The visitor's pins, and SHA-256. */
export interface TallyTrust {
  readonly trust: Trust;
  readonly sha256: Sha256;
}

const UNPINNED: TallyTrust = { trust: NOTHING_PINNED, sha256: (bytes) => bytes };

/** Starts with nothing checked. */
export function createTally({ trust, sha256 }: TallyTrust = UNPINNED): Tally {
  let judgement: Judgement = { checkpoints: [], faults: [], absent: [] };
  let tree = createTreeCheck([], sha256);
  const early = new Map<number, readonly Hash[]>();
  let leafCount = 0;
  let total = 0;
  let ranges: readonly PositionRange[] = [];
  let rows: ReceiptRow[] = [];
  let unproven: number | undefined;
  const breaks = new Map<number, string>();
  const places = openPlacePositions();
  /** Hashes by the size of the chain that ends with them, and by source. */
  const ends = new Map<number, Map<string, string>>();
  const eras: Record<Era, number> = { 1: 0, 2: 0, 3: 0 };
  const [days, categories] = [new Map<string, number>(), new Map<string, number>()];

  /** Adds a hash that the first `size` receipts end with. All sources must agree. */
  function addEnd(size: number, hash: string, source: string): void {
    const known = ends.get(size) ?? new Map<string, string>();
    ends.set(size, known);
    for (const [other, otherHash] of known) {
      if (otherHash === hash) continue;
      addBreak(size - 1, `Its hash is ${otherHash} in ${other}, but ${hash} in ${source}`);
    }
    known.set(source, hash);
  }

  function addBreak(position: number, reason: string): void {
    const before = breaks.get(position);
    if (before === undefined) breaks.set(position, reason);
    else if (!before.includes(reason)) breaks.set(position, `${before}; ${reason}`);
  }

  /** Adds leaves to the tree in their order, as ranges come in any. */
  function addLeaves(from: number, leaves: readonly Hash[]): void {
    early.set(from, leaves);
    for (let next = early.get(leafCount); next; next = early.get(leafCount)) {
      early.delete(leafCount);
      leafCount += next.length;
      tree.add(next);
    }
  }

  /** Returns how many receipts were checked from the first one on, without a gap. */
  function checkedFromStart(): number {
    const [first] = ranges;
    return first && first[0] === 0 ? first[1] : 0;
  }

  const isWhole = () => ranges.length === 1 && ranges[0]![0] === 0 && ranges[0]![1] === total;

  /** Finds what the whole ledger lacks: faults of its checkpoint, and eras that prove too little. */
  function judgeWhole(): Pick<Judgement, "faults" | "absent"> & { readonly found: Break[] } {
    const { faults, absent } = judgeEras(trust, [eras[1], eras[2], eras[3]]);
    const missing = judgement.checkpoints.filter(({ size }) => size > total).map(({ size }) => ({
      position: total,
      reason: `Missing: a checkpoint of ${size} receipts was signed`,
    }));
    return {
      faults: [...judgement.faults, ...faults],
      absent: [
        ...judgement.absent,
        ...describeUnproven(trust, unproven),
        ...(isWhole() ? absent : []),
      ],
      found: [...tree.differing(), ...missing, ...findPlaceBreaks(places, checkedFromStart())],
    };
  }

  function state(checked: number, found: number, absent: number): CheckState {
    if (found > 0) return "broken";
    if (absent > 0) return "unproven";
    if (checked === 0) return "nothing";
    const newest = ends.get(total);
    return isWhole() && newest?.has(SERVER) && newest.has(lastRecord(total)) ? "intact" : "part";
  }

  return {
    setHead(size, hash) {
      if (size < total) {
        addBreak(size, `The chain had ${total} receipts, but the server now reports ${size}`);
      }
      total = Math.max(total, size);
      if (size > 0) addEnd(size, hash, SERVER);
    },
    addKnownEnd(size, hash, source) {
      if (size > total) {
        addBreak(total, `The chain had ${size} receipts in ${source}, but has ${total} now`);
      }
      addEnd(size, hash, source);
    },
    setKeys(proof) {
      for (const { position, reason } of proof.breaks) addBreak(position, reason);
      unproven = proof.unproven;
    },
    setCheckpoint(judged) {
      judgement = judged;
      tree = createTreeCheck(judged.checkpoints, sha256);
    },
    wantsLeaves: () => judgement.checkpoints.length > 0,
    add(checked) {
      const { from, to, hashBefore, lastHash } = checked;
      if (from > 0 && hashBefore !== undefined) {
        addEnd(from, hashBefore, `the record before #${from}`);
      }
      if (checked.leaves) addLeaves(from, checked.leaves);
      if (lastHash !== undefined) addEnd(to, lastHash, lastRecord(to));
      for (const { position, reason } of checked.breaks) addBreak(position, reason);
      addPlacePositions(places, checked.places);
      ranges = joinRanges([...ranges, [from, to]]);
      for (const era of [1, 2, 3] as const) eras[era] += checked.eras[era];
      addCounts(days, checked.days);
      addCounts(categories, checked.categories);
      rows = [...rows, ...checked.rows].sort((a, b) => b.position - a.position).slice(0, MAX_ROWS);
    },
    summary() {
      const checked = ranges.reduce((sum, [from, to]) => sum + to - from, 0);
      const { faults, absent, found } = judgeWhole();
      const all = [
        ...[...breaks].map(([position, reason]) => ({ position, reason })),
        ...found,
        ...faults.map((reason) => ({ position: total, reason })),
      ].sort((a, b) => a.position - b.position);
      return {
        state: state(checked, all.length, absent.length),
        checked,
        total,
        ranges,
        eras,
        days,
        categories,
        rows,
        unproven,
        breaks: all,
        absent,
      };
    },
  };
}

const lastRecord = (size: number) => `the record at #${size - 1}`;

function addCounts(to: Map<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, n] of Object.entries(counts)) to.set(name, (to.get(name) ?? 0) + n);
}
