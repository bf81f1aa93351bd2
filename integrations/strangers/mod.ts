/**
 * One pool of processes that parse what strangers send: without database, secrets, environment or network, for at most
 * 10 s with 256 MiB.
 *
 * ```ts
 * const parsed = await parseApart("mail", { bytes }, ReceivedMail);
 * if ("refusal" in parsed) return refuse(parsed.refusal); // for good
 * ```
 *
 * Cheap limits are counted before, by those who ask. `docs/security.md` lists the kinds.
 * Doesn't trust: the bytes, and the answers of the processes that have read them.
 * @module
 */
export { confinement } from "./confine.ts";
export { readFrames, writeFrame } from "./frames.ts";
export { type ParsedKind, type Parser } from "./kinds.ts";
export { parseApart, warmParsers } from "./parse_apart.ts";
export { type Refusal, Refused } from "./refusal.ts";
