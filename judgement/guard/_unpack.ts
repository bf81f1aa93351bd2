import { inflateRawSync, unzipSync } from "node:zlib";

const MAX_OUTPUT_BYTES = 24_000;

/** Decompresses gzip and zlib data, up to a limit. Returns other bytes as they are. */
export function unpack(bytes: Buffer): Buffer {
  const limits = { maxOutputLength: MAX_OUTPUT_BYTES };
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const isZlib = bytes[0] === 0x78 && (bytes[0] * 256 + (bytes[1] ?? 1)) % 31 === 0;
  if (!isGzip && !isZlib) return bytes;
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
