import type { Store } from "../../store/mod.ts";
import {
  type AttestedMessage,
  BadTimestamp,
  fetchTimestamp,
  isAllowedCalendar,
  listAttestations,
  mergeTimestamps,
  NotConfirmed,
  parseTimestamp,
  pruneTimestamp,
  serializeTimestamp,
  SourceFailed,
  submitDigest,
  type Timestamp,
} from "./ots/mod.ts";

/** The state of a batch before an attempt. */
export interface BatchState {
  readonly first: number;
  readonly root: Uint8Array;
  /** Calendars that have accepted it. */
  readonly acceptedBy: readonly string[];
  readonly proof: Timestamp | undefined;
  readonly submittedAt: Date | null;
}

/** A calendar's answer about one of its promises. */
export interface CalendarResponse {
  readonly host: string;
  /** The message that the promise is about. */
  readonly message: Uint8Array;
  readonly timestamp: Timestamp;
  /** Attestations by Bitcoin that it claims; not verified. */
  readonly blocks: readonly AttestedMessage[];
}

/** Maximum attestations of one response that are looked at; an honest response has one. */
const MAX_ATTESTATIONS = 4;
/** A batch that is not confirmed after this time is submitted to the calendars again. */
const RESUBMIT_MS = 3 * 24 * 60 * 60_000;
/** Levels above the root that the path from a receipt needs; a reader's limit on nesting counts them too. */
const RESERVED_DEPTH = 64;

/**
 * Submits the root to the calendars that have not accepted it, and stores their promises.
 *
 * @param failures receives what went wrong
 * @returns the timestamp of the root; undefined if no calendar has accepted it yet
 */
export async function submitRoot(
  store: Store,
  calendars: readonly string[],
  batch: BatchState,
  failures: string[],
): Promise<Timestamp | undefined> {
  const { root, acceptedBy, submittedAt } = batch;
  const again = submittedAt !== null && Date.now() - submittedAt.getTime() > RESUBMIT_MS;
  const missing = calendars.filter((calendar) => again || !acceptedBy.includes(calendar));
  const promises = await Promise.all(missing.map(async (calendar) => {
    const response = await tryRemote(failures, () => submitDigest(calendar, root));
    const promise = response && keepPromises(response, calendars);
    if (response && !promise) {
      failures.push(
        `${calendarName(calendar)}: its response has no promise of an allowed calendar`,
      );
    }
    return promise && { calendar, promise };
  }));
  const accepted = promises.filter((promise) => promise !== undefined);
  return accepted.length === 0
    ? batch.proof
    : await storePromises(store, batch, accepted, failures, again);
}

/** Keeps only the promises of a response. Attestations are fetched, and verified, later. */
function keepPromises(response: Timestamp, calendars: readonly string[]): Timestamp | undefined {
  let left = MAX_ATTESTATIONS;
  return pruneTimestamp(
    response,
    (attestation) =>
      attestation.kind === "pending" && isAllowedCalendar(attestation.uri, calendars) &&
      left-- > 0,
  );
}

/** Merges promises into the stored proof. The row is locked, so parallel attempts do not lose each other's. */
async function storePromises(
  store: Store,
  { first, root }: BatchState,
  accepted: readonly { calendar: string; promise: Timestamp }[],
  failures: string[],
  again: boolean,
): Promise<Timestamp | undefined> {
  return await store.asPlatform().transaction(async (trx) => {
    const row = await trx.first(
      "SELECT state, proof, calendars FROM anchors WHERE first = $1 FOR UPDATE",
      [first],
    );
    let proof: Timestamp | undefined = row!.proof
      ? parseTimestamp(row!.proof, root.length, RESERVED_DEPTH)
      : undefined;
    if (row!.state === "confirmed") return proof;
    const acceptedBy: string[] = [];
    for (const { calendar, promise } of accepted) {
      const merged = await tryRemote(
        failures,
        () => checkReadable(proof ? mergeTimestamps(proof, promise) : promise, root),
      );
      if (!merged) continue;
      proof = merged;
      acceptedBy.push(calendar);
    }
    if (proof && acceptedBy.length > 0) {
      await trx.execute(
        `UPDATE anchors SET state = 'pending', proof = $2, calendars = $3,
           submitted_at = CASE WHEN $4 THEN now() ELSE coalesce(submitted_at, now()) END
         WHERE first = $1`,
        [first, serializeTimestamp(proof), [...new Set([...row!.calendars, ...acceptedBy])], again],
      );
    }
    return proof;
  });
}

/**
 * Returns the timestamp as a reader parses it below the path from a receipt to the root. A timestamp merged from several
 * responses could nest too deep; one calendar must not spoil the proof for the others.
 *
 * @throws {BadTimestamp}
 */
export function checkReadable(timestamp: Timestamp, root: Uint8Array): Timestamp {
  const parsed = parseTimestamp(serializeTimestamp(timestamp), root.length, RESERVED_DEPTH);
  listAttestations(parsed, root);
  return parsed;
}

/** Fetches the timestamps for all promises of a proof, in parallel. @param failures receives what went wrong */
export async function fetchPromised(
  calendars: readonly string[],
  proof: Timestamp,
  root: Uint8Array,
  failures: string[],
): Promise<CalendarResponse[]> {
  const promises = listAttestations(proof, root).flatMap(({ attestation, message }) =>
    attestation.kind === "pending" && isAllowedCalendar(attestation.uri, calendars)
      ? [{ uri: attestation.uri, message }]
      : []
  );
  const responses = await Promise.all(promises.map(async ({ uri, message }) => {
    const host = calendarName(uri);
    const timestamp = await tryRemote(
      failures,
      async () => await fetchTimestamp(uri.replace(/\/$/, ""), message) ?? null,
    );
    if (timestamp === null) failures.push(`${host}: not in a block yet`);
    if (!timestamp) return [];
    const attested = await tryRemote(failures, () => listAttestations(timestamp, message)) ?? [];
    const blocks = attested.filter(({ attestation }) => attestation.kind === "bitcoin");
    if (blocks.length === 0) failures.push(`${host}: its response attests no Bitcoin block`);
    return [{ host, message, timestamp, blocks: blocks.slice(0, MAX_ATTESTATIONS) }];
  }));
  return responses.flat();
}

const calendarName = (address: string) => `calendar ${new URL(address).host}`;

/** Runs `work`. Adds a failure of a remote server to `failures`, and returns undefined; throws any other error. */
export async function tryRemote<T>(
  failures: string[],
  work: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const isRemote = error instanceof SourceFailed || error instanceof NotConfirmed ||
      error instanceof BadTimestamp;
    if (!isRemote) throw error;
    failures.push(error.message);
    return undefined;
  }
}
