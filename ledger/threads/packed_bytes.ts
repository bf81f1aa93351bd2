/** Byte strings in one piece of memory, which can be handed over to a thread. */
export interface PackedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each byte string ends. */
  readonly ends: Uint32Array<ArrayBuffer>;
}

/** Packs byte strings, in their order. */
export function packBytes(parts: readonly Uint8Array[]): PackedBytes {
  const ends = new Uint32Array(parts.length);
  let end = 0;
  parts.forEach((part, n) => ends[n] = end += part.length);
  const bytes = new Uint8Array(end);
  parts.forEach((part, n) => bytes.set(part, ends[n]! - part.length));
  return { bytes, ends };
}
