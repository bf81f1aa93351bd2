import { type Store } from "../../store/mod.ts";
import {
  type AttestedMessage,
  BadTimestamp,
  fetchTimestamp,
  isAllowedCalendar,
  listAttestations,
  merge,
  NotConfirmed,
  parseTimestamp,
  prune,
  serializeTimestamp,
  SourceFailed,
  submitDigest,
  type Timestamp,
} from "./ots/mod.ts";

/** What is known of a batch when an attempt begins. */
export interface Known {
  readonly first: number;
  readonly root: Uint8Array;
  /** Calendars that have taken it. */
  readonly taken: readonly string[];
  readonly proof: Timestamp | undefined;
  readonly submittedAt: Date | null;
}

/** What a calendar says has become of a promise. */
export interface Answer {
  readonly host: string;
  /** What it had promised something of. */
  readonly message: Uint8Array;
  readonly timestamp: Timestamp;
  /** Attestations by Bitcoin, as it claims. */
  readonly blocks: readonly AttestedMessage[];
}

/** Attestations of one answer that are looked at; an honest one has one. */
const MOST_ATTESTED = 4;
/** When a batch is still not confirmed, calendars are given it again. */
const GIVEN_UP_AFTER_MS = 3 * 24 * 60 * 60_000;
/** Room above the root for the way from a receipt, which a reader's limit on nesting counts too. */
const DEPTH = 64;

/**
 * Gives the root to the calendars that have not taken it, and keeps what they promise.
 *
 * @param notes gets what went wrong
 * @returns what is known of the root then; undefined: nothing
 */
export async function submit(
  store: Store,
  calendars: readonly string[],
  known: Known,
  notes: string[],
): Promise<Timestamp | undefined> {
  const { root, taken, submittedAt } = known;
  const again = submittedAt !== null && Date.now() - submittedAt.getTime() > GIVEN_UP_AFTER_MS;
  const missing = calendars.filter((calendar) => again || !taken.includes(calendar));
  const answers = await Promise.all(missing.map(async (calendar) => {
    const answer = await orNote(notes, () => submitDigest(calendar, root));
    const promise = answer && promisesOf(answer, calendars);
    if (answer && !promise) {
      notes.push(`${nameOf(calendar)}: it promises nothing of a calendar that may be asked`);
    }
    return promise && { calendar, promise };
  }));
  const fresh = answers.filter((answer) => answer !== undefined);
  return fresh.length === 0 ? known.proof : await keep(store, known, fresh, notes, again);
}

/** Nothing but promises is taken from it now: what it attests is asked for, and checked, later. */
function promisesOf(answer: Timestamp, calendars: readonly string[]): Timestamp | undefined {
  let left = MOST_ATTESTED;
  return prune(
    answer,
    (a) => a.kind === "pending" && isAllowedCalendar(a.uri, calendars) && left-- > 0,
  );
}

/** Adds promises to what the database has by now, so that of two attempts at once neither undoes the other's. */
async function keep(
  store: Store,
  { first, root }: Known,
  fresh: readonly { calendar: string; promise: Timestamp }[],
  notes: string[],
  again: boolean,
): Promise<Timestamp | undefined> {
  return await store.asPlatform().transaction(async (trx) => {
    const row = await trx("anchors").where({ first }).forUpdate().first();
    let proof = row.proof ? parseTimestamp(row.proof, root.length, DEPTH) : undefined;
    if (row.state === "confirmed") return proof;
    const takers: string[] = [];
    for (const { calendar, promise } of fresh) {
      const more = await orNote(
        notes,
        () => readable(merge(...proof ? [proof] : [], promise), root),
      );
      if (!more) continue;
      proof = more;
      takers.push(calendar);
    }
    if (!proof || takers.length === 0) return proof;
    await trx("anchors").where({ first }).update({
      state: "pending",
      proof: Buffer.from(serializeTimestamp(proof)),
      calendars: [...new Set([...row.calendars, ...takers])],
      submitted_at: again ? trx.fn.now() : row.submitted_at ?? trx.fn.now(),
    });
    return proof;
  });
}

/**
 * The timestamp, where everybody can read it even below the way from a receipt to its root. What calendars say is put
 * together from several answers, and one that nests too deep would spoil the others'.
 *
 * @throws {BadTimestamp}
 */
export function readable(timestamp: Timestamp, root: Uint8Array): Timestamp {
  const read = parseTimestamp(serializeTimestamp(timestamp), root.length, DEPTH);
  listAttestations(read, root);
  return read;
}

/** Asks all calendars at once what has become of their promises. @param notes gets what went wrong */
export async function askAll(
  calendars: readonly string[],
  proof: Timestamp,
  root: Uint8Array,
  notes: string[],
): Promise<Answer[]> {
  const promises = listAttestations(proof, root).flatMap(({ attestation, message }) =>
    attestation.kind === "pending" && isAllowedCalendar(attestation.uri, calendars)
      ? [{ uri: attestation.uri, message }]
      : []
  );
  const answers = await Promise.all(promises.map(async ({ uri, message }) => {
    const host = nameOf(uri);
    const timestamp = await orNote(
      notes,
      async () => await fetchTimestamp(uri.replace(/\/$/, ""), message) ?? null,
    );
    if (timestamp === null) notes.push(`${host}: not in a block yet`);
    if (!timestamp) return [];
    const attested = await orNote(notes, () => listAttestations(timestamp, message)) ?? [];
    const blocks = attested.filter(({ attestation }) => attestation.kind === "bitcoin");
    if (blocks.length === 0) notes.push(`${host}: it attests no Bitcoin block`);
    return [{ host, message, timestamp, blocks: blocks.slice(0, MOST_ATTESTED) }];
  }));
  return answers.flat();
}

const nameOf = (address: string) => `calendar ${new URL(address).host}`;

/** What went wrong on the other side is noted; anything else is ours, and thrown. */
export async function orNote<T>(
  notes: string[],
  work: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const theirs = error instanceof SourceFailed || error instanceof NotConfirmed ||
      error instanceof BadTimestamp;
    if (!theirs) throw error;
    notes.push(error.message);
    return undefined;
  }
}
