import { toHex } from "./_bytes.ts";
import { BadTimestamp, SourceFailed } from "./errors.ts";
import { OTS_TYPE } from "./file.ts";
import { guardedFetch } from "./_http.ts";
import { parseTimestamp, type Timestamp } from "./timestamp.ts";

/** Most bytes of a calendar's answer, as the official client has it. */
const MAX_ANSWER = 10_000;
const TIMEOUT_MS = 10_000;
/** Room above a calendar's timestamp for the path of a receipt to its root. */
const DEPTH = 64;

/** Calendars behind the public pools, whose promises name another address than the pool's. */
const PUBLIC =
  /^https:\/\/[a-z0-9-]+(\.[a-z0-9-]+)*\.calendar\.(opentimestamps\.org|eternitywall\.com|catallaxy\.com)\/?$/;

/**
 * Hands a digest to a calendar.
 *
 * @param calendar address without a slash at the end
 * @returns what the calendar promises of the digest
 * @throws {SourceFailed} it did not take it, or its answer is no timestamp
 */
export async function submitDigest(calendar: string, digest: Uint8Array): Promise<Timestamp> {
  const { status, bytes } = await ask(`${calendar}/digest`, digest.slice());
  if (status !== 200) throw new SourceFailed(nameOf(calendar), `status ${status} to a digest`);
  return read(calendar, bytes, digest.length);
}

/**
 * Asks a calendar whether what it promised has come.
 *
 * @param commitment the message that it gave its promise for
 * @returns undefined: not yet
 * @throws {SourceFailed} it did not answer, or its answer is no timestamp
 */
export async function fetchTimestamp(
  calendar: string,
  commitment: Uint8Array,
): Promise<Timestamp | undefined> {
  const { status, bytes } = await ask(`${calendar}/timestamp/${toHex(commitment)}`);
  if (status === 404) return undefined;
  if (status !== 200) throw new SourceFailed(nameOf(calendar), `status ${status} to a question`);
  return read(calendar, bytes, commitment.length);
}

/**
 * Whether a promise's calendar may be asked: a configured one, or one of those behind the public pools where one of
 * these is configured. A promise is whatever a calendar has written into it, and must not send us elsewhere.
 */
export function isAllowedCalendar(uri: string, configured: readonly string[]): boolean {
  const asked = uri.replace(/\/$/, "");
  return configured.includes(asked) ||
    (PUBLIC.test(uri) && configured.some((calendar) => calendar.startsWith("https://")));
}

function ask(url: string, body?: Uint8Array<ArrayBuffer>) {
  return guardedFetch(url, {
    source: nameOf(url),
    headers: { accept: OTS_TYPE },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER,
    ...(body ? { body } : {}),
  });
}

function read(calendar: string, bytes: Uint8Array, length: number): Timestamp {
  try {
    return parseTimestamp(bytes, length, DEPTH);
  } catch (error) {
    if (!(error instanceof BadTimestamp)) throw error;
    throw new SourceFailed(nameOf(calendar), `its answer is no timestamp: ${error.message}`);
  }
}

const nameOf = (url: string) => `calendar ${new URL(url).host}`;
