import {
  type Break,
  type Era,
  parseFields,
  type Place,
  type Primitives,
  readLink,
  readPosition,
  type TrustedKey,
  verifyRecord,
} from "../rules/mod.ts";

/** What the checks of a stretch of the chain found. */
export interface Chunk {
  /** First position, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** `hash_sha256` of the record before the first, as it was given with these; undefined: it was not given. */
  readonly hashBefore: string | undefined;
  /** `hash_sha256` of the last record; undefined: it is missing. */
  readonly lastHash: string | undefined;
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

/** A stretch of the chain. */
export interface Range {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** What the first one links to can't be had. */
  readonly alone?: boolean;
  /** Where the records are from; default: the server. */
  readonly source?: "server" | "file";
}

const MOST_ROWS = 20;
const SAID = {
  server: {
    lacks: "The server did not give it",
    twice: "The server gave it twice, or out of order",
  },
  file: { lacks: "The file lacks it", twice: "The file has it twice, or out of order" },
} as const;

/**
 * Checks a stretch of the chain. A record that is missing is a break at its position, and the link to it of the one
 * after is not reported besides.
 *
 * @param records oldest first, byte for byte; where `from` > 0 and not `alone`, with the record before as the first
 * @param range `from` first position; `to` one after the last; `alone`: what the first one links to can't be had
 * @param keys in the order in which they came to be trusted
 */
export function checkRange(
  records: readonly string[],
  { from, to, alone = false, source = "server" }: Range,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): Chunk {
  const breaks: Break[] = [];
  const eras: Record<Era, number> = { 1: 0, 2: 0, 3: 0 };
  const [days, categories] = [tally(), tally()];
  const rows: Row[] = [];
  let next = from === 0 || alone ? from : from - 1;
  let previous: Previous | undefined = from === 0 && !alone
    ? { hash: "", era: undefined }
    : undefined;
  let hashBefore: string | undefined = from === 0 ? "" : undefined;

  /** Up to there the records are missing; what comes then can't be held to its link. */
  function skip(position: number): void {
    if (position > next) previous = undefined;
    for (; next < position; next++) {
      breaks.push({ position: next, reason: SAID[source].lacks });
    }
  }

  for (const json of records) {
    // The link tells where a record stands; only where it does not hold, what the record says of itself.
    const follows = next >= from && previous?.hash === readLink(json);
    const claimed = follows ? next : readPosition(json) ?? next;
    if (claimed < next) {
      breaks.push({ position: claimed, reason: SAID[source].twice });
      continue;
    }
    skip(Math.min(claimed, to));
    if (next >= to) break;
    const place: Place = {
      position: next,
      previousHash: previous?.hash ?? readLink(json),
      ...(previous?.era === undefined ? {} : { previousEra: previous.era }),
    };
    const { verdict, hash, era } = verifyRecord(json, place, keys, primitives);
    previous = hash === "" && !verdict.verified ? undefined : { hash, era };
    if (next++ < from) {
      hashBefore = hash; // the record before: it counts as the start of the link alone
      continue;
    }
    const { position } = place;
    if (!verdict.verified) breaks.push({ position, reason: verdict.reasons.join("; ") });
    if (era) eras[era]++;
    const row = rowOf(json, position, verdict.verified);
    add(days, row.timestamp.slice(0, 10));
    add(categories, row.category);
    rows.push(row);
    if (rows.length > MOST_ROWS) rows.shift();
  }
  skip(to);
  const lastHash = previous?.hash;
  return {
    ...{ from, to, hashBefore, lastHash, breaks, eras, days, categories },
    rows: rows.reverse(),
  };
}

interface Previous {
  readonly hash: string;
  readonly era: Era | undefined;
}

/** What a list shows of a record. */
export function rowOf(json: string, position: number, verified: boolean | undefined): Row {
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

/** Names are anyone's, `__proto__` among them. */
const tally = (): Record<string, number> => Object.create(null);

function add(to: Record<string, number>, name: string): void {
  to[name] = (to[name] ?? 0) + 1;
}
