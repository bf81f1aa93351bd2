import {
  type Break,
  type Era,
  formatLeaf,
  type Hash,
  hashLeaf,
  NotCanonical,
  parseFields,
  type Place,
  type Primitives,
  readLink,
  readPosition,
  type TrustedKey,
  verifyRecord,
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
 * Checks a range of the chain. A missing record is one break at its position; the link to it from the next record is
 * not another one.
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
  const breaks: Break[] = [];
  const eras: Record<Era, number> = { 1: 0, 2: 0, 3: 0 };
  const [days, categories] = [createCounts(), createCounts()];
  const rows: ReceiptRow[] = [];
  const leaves = wantsLeaves ? new Map<number, Hash>() : undefined;
  let next = from === 0 || alone ? from : from - 1;
  let previous: Previous | undefined = from === 0 && !alone
    ? { hash: "", era: undefined }
    : undefined;
  let hashBefore: string | undefined = from === 0 ? "" : undefined;

  /** Reports the records up to a position as missing. The link of the next record cannot be checked then. */
  function skipTo(position: number): void {
    if (position > next) previous = undefined;
    for (; next < position; next++) {
      breaks.push({ position: next, reason: REASONS[source].missing });
    }
  }

  for (const json of records) {
    // A record that links to the one before is the next one; any other is at the position that it claims.
    const follows = next >= from && previous?.hash === readLink(json);
    const claimed = follows ? next : readPosition(json) ?? next;
    if (claimed < next) {
      breaks.push({ position: claimed, reason: REASONS[source].repeated });
      continue;
    }
    skipTo(Math.min(claimed, to));
    if (next >= to) break;
    const place: Place = {
      position: next,
      previousHash: previous?.hash ?? readLink(json),
      ...(previous?.era === undefined ? {} : { previousEra: previous.era }),
    };
    const { verdict, hash, era } = verifyRecord(json, place, keys, primitives);
    previous = hash === "" && !verdict.verified ? undefined : { hash, era };
    next++;
    if (place.position < from) {
      hashBefore = hash;
      continue;
    }
    if (!verdict.verified) {
      breaks.push({ position: place.position, reason: verdict.reasons.join("; ") });
    }
    if (era) eras[era]++;
    const row = toReceiptRow(json, place.position, verdict.verified);
    leaves?.set(place.position, computeLeaf(json, row, primitives));
    increment(days, row.timestamp.slice(0, 10));
    increment(categories, row.category);
    rows.push(row);
    if (rows.length > MAX_ROWS) rows.shift();
  }
  skipTo(to);
  return {
    from,
    to,
    hashBefore,
    lastHash: previous?.hash,
    breaks: contradictions.length === 0 ? breaks : addContradictions(breaks, contradictions, from),
    eras,
    days,
    categories,
    rows: rows.reverse(),
    ...(leaves && {
      leaves: Array.from({ length: to - from }, (_, n) => leaves.get(from + n) ?? NO_LEAF),
    }),
  };
}

function addContradictions(
  [first, ...others]: readonly Break[],
  contradictions: readonly string[],
  from: number,
): Break[] {
  const reasons = first ? [first.reason, ...contradictions] : contradictions;
  return [{ position: first?.position ?? from, reason: reasons.join("; ") }, ...others];
}

const NO_LEAF: Hash = new Uint8Array(32);

/** Returns zeros for a record that has no leaf: that is a break already, and no root fits it. */
function computeLeaf(text: string, { position, id }: ReceiptRow, primitives: Primitives): Hash {
  const { sha256, fromHex } = primitives;
  try {
    const leaf = new TextEncoder().encode(formatLeaf({ position, id, text }, sha256));
    return hashLeaf(leaf, (bytes) => fromHex(sha256(bytes)));
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return NO_LEAF;
  }
}

interface Previous {
  readonly hash: string;
  readonly era: Era | undefined;
}

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
