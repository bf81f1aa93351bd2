import { inflateRawSync, unzipSync } from "node:zlib";

const LONGEST = 24_000;

/** Bytes unzipped where they are zipped, up to a bound; else as they are. */
export function unpack(bytes: Buffer): Buffer {
  const limits = { maxOutputLength: LONGEST };
  const zipped = bytes[0] === 0x1f && bytes[1] === 0x8b ||
    bytes[0] === 0x78 && (bytes[0] * 256 + (bytes[1] ?? 1)) % 31 === 0;
  if (!zipped) return bytes;
  try {
    return unzipSync(bytes, limits);
  } catch {
    try {
      return inflateRawSync(bytes.subarray(2), limits);
    } catch {
      return bytes;
    }
  }
}
