import type { Refusal } from "../strangers/mod.ts";

/** Most lines of a mail of 10 MiB: lines of base64 have 76 characters. */
const MAX_LINES = 400_000;
const MAX_PARTS = 1_000;
/** Boundaries that a mail may declare: one for each part of parts. */
const MAX_BOUNDARIES = 100;
const MAX_HEAD_BYTES = 256 * 1024;
const LINE_FEED = 0x0a, RETURN = 0x0d, DASH = 0x2d;
const BOUNDARY = /boundary\*?0?\*?\s{0,20}=\s{0,20}(?:"([^"\r\n]{1,200})"|([^\s";]{1,200}))/gi;

/**
 * Counts what makes a mail costly to read, in time that grows with its length alone.
 *
 * @returns why it is refused; undefined: it may be parsed
 */
export function countMail(bytes: Buffer): Refusal | undefined {
  const boundaries = new Set<string>();
  for (const [, quoted, plain] of bytes.toString("latin1").matchAll(BOUNDARY)) {
    boundaries.add((quoted ?? plain)!.trimEnd());
    if (boundaries.size > MAX_BOUNDARIES) {
      return { code: "too_deep", about: `It declares more than ${MAX_BOUNDARIES} boundaries` };
    }
  }
  let lines = 0;
  let parts = 0;
  for (let at = 0; at < bytes.length;) {
    const next = bytes.indexOf(LINE_FEED, at);
    const end = next === -1 ? bytes.length : next;
    if (++lines > MAX_LINES) {
      return { code: "too_many_lines", about: `It has more than ${MAX_LINES} lines` };
    }
    if (bytes[at] === DASH && bytes[at + 1] === DASH && isBoundary(bytes, at + 2, end)) parts++;
    if (parts > MAX_PARTS) {
      return { code: "too_many_parts", about: `It has more than ${MAX_PARTS} parts` };
    }
    at = end + 1;
  }
  return undefined;

  function isBoundary(bytes: Buffer, from: number, to: number): boolean {
    const text = bytes.toString("latin1", from, Math.min(to, from + 210)).trimEnd();
    return boundaries.has(text) || boundaries.has(text.replace(/--$/, ""));
  }
}

/** Returns the head of a mail, whose words tell who has sent it and what it answers. */
export function headOf(bytes: Buffer): Buffer {
  for (let at = 0; at < Math.min(bytes.length, MAX_HEAD_BYTES); at++) {
    if (bytes[at] !== LINE_FEED) continue;
    const after = bytes[at + 1] === RETURN ? at + 2 : at + 1;
    if (bytes[after] === LINE_FEED) return bytes.subarray(0, after + 1);
  }
  return bytes.subarray(0, MAX_HEAD_BYTES);
}
