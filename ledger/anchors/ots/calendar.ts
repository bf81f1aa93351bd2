import { toHex } from "./_bytes.ts";
import { limitedFetch } from "./_http.ts";
import { BadTimestamp, SourceFailed } from "./errors.ts";
import { OTS_TYPE } from "./file.ts";
import { parseTimestamp, type Timestamp } from "./timestamp.ts";

/** Maximum bytes of a calendar's response; the official client has the same limit. */
const MAX_RESPONSE_BYTES = 10_000;
const TIMEOUT_MS = 10_000;
/** Levels reserved above a calendar's timestamp for the path from a receipt to its root. */
const RESERVED_DEPTH = 64;

/** Calendars behind the public pools. Their promises name them instead of the pool. */
const PUBLIC_CALENDAR =
  /^https:\/\/[a-z0-9-]+(\.[a-z0-9-]+)*\.calendar\.(opentimestamps\.org|eternitywall\.com|catallaxy\.com)\/?$/;

/**
 * Submits a digest to a calendar.
 *
 * @param calendar address without a slash at the end
 * @returns the calendar's timestamp of the digest, usually a promise
 * @throws {SourceFailed} the calendar refused it, or its response is no timestamp
 */
export async function submitDigest(calendar: string, digest: Uint8Array): Promise<Timestamp> {
  const { status, bytes } = await request(`${calendar}/digest`, digest.slice());
  if (status !== 200) throw new SourceFailed(nameOf(calendar), `status ${status} for a digest`);
  return read(calendar, bytes, digest.length);
}

/**
 * Fetches the timestamp that a calendar promised.
 *
 * @param commitment the message that the promise is about
 * @returns undefined while there is none
 * @throws {SourceFailed} the calendar did not respond, or its response is no timestamp
 */
export async function fetchTimestamp(
  calendar: string,
  commitment: Uint8Array,
): Promise<Timestamp | undefined> {
  const { status, bytes } = await request(`${calendar}/timestamp/${toHex(commitment)}`);
  if (status === 404) return undefined;
  if (status !== 200) throw new SourceFailed(nameOf(calendar), `status ${status} for a commitment`);
  return read(calendar, bytes, commitment.length);
}

/**
 * Returns true for a configured calendar and, if any https calendar is configured, for those behind the public pools.
 *
 * The address comes from the promise itself, which must not make us send requests anywhere else.
 */
export function isAllowedCalendar(uri: string, configured: readonly string[]): boolean {
  return configured.includes(uri.replace(/\/$/, "")) ||
    (PUBLIC_CALENDAR.test(uri) && configured.some((calendar) => calendar.startsWith("https://")));
}

function request(url: string, body?: Uint8Array<ArrayBuffer>) {
  return limitedFetch(url, {
    source: nameOf(url),
    headers: { accept: OTS_TYPE },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_RESPONSE_BYTES,
    ...(body ? { body } : {}),
  });
}

function read(calendar: string, bytes: Uint8Array, length: number): Timestamp {
  try {
    return parseTimestamp(bytes, length, RESERVED_DEPTH);
  } catch (error) {
    if (!(error instanceof BadTimestamp)) throw error;
    throw new SourceFailed(nameOf(calendar), `its response is no timestamp: ${error.message}`);
  }
}

const nameOf = (url: string) => `calendar ${new URL(url).host}`;
