import {
  type Break,
  type Era,
  type Place,
  type Primitives,
  type TrustedKey,
  verifyRecord,
} from "../rules.ts";

/** What the checks of a stretch of the chain found. */
export interface Chunk {
  /** First position, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** `hash_sha256` of the record before the first, as it was given together with these; empty at the start. */
  readonly hashBefore: string;
  /** `hash_sha256` of the last record. */
  readonly lastHash: string;
  readonly breaks: readonly Break[];
  /** Records of each era. */
  readonly eras: Readonly<Record<Era, number>>;
  /** Records of each UTC day, as `2026-07-01`, and of each category. */
  readonly days: Readonly<Record<string, number>>;
  readonly categories: Readonly<Record<string, number>>;
  /** The newest ones, newest first. */
  readonly rows: readonly Row[];
}

/** A receipt's line in a list, taken from its record. */
export interface Row {
  readonly position: number;
  readonly id: string;
  readonly timestamp: string;
  readonly category: string;
  readonly subject: string;
  readonly outcome: string;
  readonly hash: string;
  /** Undefined: nothing was checked. */
  readonly verified: boolean | undefined;
}

const MOST_ROWS = 20;

/**
 * Checks a stretch of the chain. A record that is missing is a break at its position.
 *
 * @param records oldest first, byte for byte; where `from` > 0, with the record before as the first
 * @param from first position
 * @param to one after the last position
 * @param keys in the order in which they came to be trusted
 */
export function checkRange(
  records: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
  keys: readonly TrustedKey[],
  primitives: Primitives,
): Chunk {
  const before = from === 0 ? undefined : records[0];
  const own = from === 0 ? records : records.slice(1);
  let place: Place = { position: from, previousHash: "" };
  if (before !== undefined) {
    const { hash, era } = verifyRecord(before, { ...place, position: from - 1 }, keys, primitives);
    place = { position: from, previousHash: hash, previousEra: era };
  }
  const hashBefore = place.previousHash;
  const breaks: Break[] = [];
  const eras: Record<Era, number> = { 1: 0, 2: 0, 3: 0 };
  const [days, categories] = [tally(), tally()];
  const rows: Row[] = [];
  for (const json of own.slice(0, to - from)) {
    const { verdict, hash, era } = verifyRecord(json, place, keys, primitives);
    const { position } = place;
    if (!verdict.verified) breaks.push({ position, reason: verdict.reasons.join("; ") });
    if (era) eras[era]++;
    const row = rowOf(json, position, verdict.verified);
    add(days, row.timestamp.slice(0, 10));
    add(categories, row.category);
    rows.push(row);
    if (rows.length > MOST_ROWS) rows.shift();
    place = { position: position + 1, previousHash: hash, previousEra: era };
  }
  for (; place.position < to; place = { ...place, position: place.position + 1 }) {
    breaks.push({ position: place.position, reason: "It is missing: the server did not give it" });
  }
  return {
    ...{ from, to, hashBefore, lastHash: place.previousHash, breaks, eras, days, categories },
    rows: rows.reverse(),
  };
}

/** What a list shows of a record. */
export function rowOf(json: string, position: number, verified: boolean | undefined): Row {
  const fields = parsed(json);
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

function parsed(json: string): Record<string, unknown> {
  try {
    const value = JSON.parse(json);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {}; // the rules have said so already
  }
}

/** Names are anyone's, `__proto__` among them. */
const tally = (): Record<string, number> => Object.create(null);

function add(to: Record<string, number>, name: string): void {
  to[name] = (to[name] ?? 0) + 1;
}
