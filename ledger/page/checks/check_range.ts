import {
  type Break,
  type Era,
  findPlaceAfter,
  followSpan,
  type Hash,
  parseFields,
  type PlacePositions,
  type Primitives,
  type SpanBreak,
  type TrustedKey,
} from "../../rules/mod.ts";

/** The result of checking a range of the chain. */
export interface CheckedRange {
  /** First position, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** `hash_sha256` of the record before the range; undefined if it was not available. */
  readonly hashBefore: string | undefined;
  /** `hash_sha256` of the last record; undefined if it is missing. */
  readonly lastHash: string | undefined;
  readonly breaks: readonly Break[];
  /** Places that valid records name. */
  readonly places: PlacePositions;
  /** Number of records of each era. */
  readonly eras: Readonly<Record<Era, number>>;
  /** Number of records of each UTC day, like `2026-07-01`, and of each category. */
  readonly days: Readonly<Record<string, number>>;
  readonly categories: Readonly<Record<string, number>>;
  /** The newest receipts, newest first. */
  readonly rows: readonly ReceiptRow[];
  /** Leaves of the Merkle log, one for each position, if they are wanted; zeros for a record that has none. */
  readonly leaves?: readonly Hash[];
}

/** A receipt's line in a list, made from its record. */
export interface ReceiptRow {
  readonly position: number;
  readonly id: string;
  readonly timestamp: string;
  readonly category: string;
  readonly subject: string;
  readonly outcome: string;
  readonly hash: string;
  /** Undefined if nothing was checked. */
  readonly verified: boolean | undefined;
}

/** A range of the chain to check. */
export interface RangeToCheck {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** True if the record before the range is not available. */
  readonly alone?: boolean;
  /** Source of the records, for messages. Default: the server. */
  readonly source?: "server" | "file";
  /** True if leaves of the Merkle log are wanted. */
  readonly wantsLeaves?: boolean;
  /** How the source contradicts its records. That is a break: the first one that they have, or one at their beginning. */
  readonly contradictions?: readonly string[];
}

const MAX_ROWS = 20;
const REASONS = {
  server: {
    missing: "The server did not return it",
    repeated: "The server returned it twice, or out of order",
  },
  file: {
    missing: "The file does not have it",
    repeated: "The file has it twice, or out of order",
  },
} as const;

/**
 * Checks a range of the chain by the same lines as the command. Each missing record is one break at its position; the
 * link to it from the next record is not another one.
 *
 * @param records oldest first, byte for byte; the first one is the record before the range, unless the range begins at 0
 * or is `alone`
 * @param keys in the order in which they became trusted
 */
export function checkRange(
  records: readonly string[],
  range: RangeToCheck,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): CheckedRange {
  const { from, to, alone = false, source = "server", wantsLeaves, contradictions = [] } = range;
  const eras: Record<Era, number> = { 1: 0, 2: 0, 3: 0 };
  const [days, categories] = [createCounts(), createCounts()];
  const rows: ReceiptRow[] = [];
  const leaves = wantsLeaves ? new Map<number, Hash>() : undefined;
  const needsBefore = from > 0 && !alone;
  const [first] = records;
  const after = needsBefore && first !== undefined
    ? findPlaceAfter(first, from - 1, keys, primitives)
    : undefined;
  const hasBefore = after?.position === from;
  const previousHash = from === 0 && !alone ? "" : undefined;
  const start = hasBefore ? after : { position: from, previousHash };
  const span = followSpan(start, keys, primitives, { wantsLeaves });
  let lastHash: string | undefined;
  for (const json of hasBefore ? records.slice(1) : records) {
    const { position, isRepeated, verdict, hash, era, leaf } = span.add(json);
    if (position >= to) break;
    if (era) eras[era]++;
    if (isRepeated) continue;
    lastHash = position === to - 1 && hash !== "" ? hash : undefined;
    const row = toReceiptRow(json, position, verdict.verified);
    if (leaf) leaves?.set(position, leaf);
    increment(days, row.timestamp.slice(0, 10));
    increment(categories, row.category);
    rows.push(row);
    if (rows.length > MAX_ROWS) rows.shift();
  }
  span.skipTo(to);
  const breaks = span.breaks.flatMap((found) => toBreaks(found, to, source));
  if (needsBefore && !hasBefore) {
    breaks.unshift({ position: from - 1, reason: REASONS[source].missing });
  }
  return {
    from,
    to,
    hashBefore: from === 0 ? "" : hasBefore ? after.previousHash : undefined,
    lastHash,
    breaks: contradictions.length === 0 ? breaks : addContradictions(breaks, contradictions, from),
    places: span.places,
    eras,
    days,
    categories,
    rows: rows.reverse(),
    ...(leaves && {
      leaves: Array.from({ length: to - from }, (_, n) => leaves.get(from + n) ?? NO_LEAF),
    }),
  };
}

/** Reports each missing position on its own, in the words of the page. @param to end of the range, exclusive */
function toBreaks(
  { kind, position, to: end, reason }: SpanBreak,
  to: number,
  source: "server" | "file",
): Break[] {
  const said = kind === "invalid" ? reason : REASONS[source][kind];
  const length = Math.max(0, Math.min(end, to) - position);
  return Array.from({ length }, (_, n) => ({ position: position + n, reason: said }));
}

function addContradictions(
  [first, ...others]: readonly Break[],
  contradictions: readonly string[],
  from: number,
): Break[] {
  const reasons = first ? [first.reason, ...contradictions] : contradictions;
  return [{ position: first?.position ?? from, reason: reasons.join("; ") }, ...others];
}

/** Stands for a record that has no leaf: that is a break already, and no root fits it. */
const NO_LEAF: Hash = new Uint8Array(32);

/** Makes the line of a record in a list. */
export function toReceiptRow(
  json: string,
  position: number,
  verified: boolean | undefined,
): ReceiptRow {
  const fields = parseFields(json);
  const text = (name: string) => typeof fields[name] === "string" ? fields[name] : "";
  return {
    position,
    id: text("id"),
    timestamp: text("timestamp"),
    category: text("category"),
    subject: text("subject"),
    outcome: text("outcome"),
    hash: text("hash_sha256"),
    verified,
  };
}

/** Creates an object without a prototype, as anyone can choose names like `__proto__`. */
const createCounts = (): Record<string, number> => Object.create(null);

function increment(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
