const SIZE = 32;

/**
 * Returns an ECDSA signature over P-256 as r and s, 32 bytes each, which is what WebCrypto takes.
 *
 * @param der SEQUENCE of two INTEGERs, each in its one form @see RFC 3279 §2.2.3
 * @returns undefined: it is no such signature
 */
export function derToRaw(der: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const raw = new Uint8Array(2 * SIZE);
  let at = 2;
  for (const offset of [0, SIZE]) {
    const length = der[at + 1] ?? 0;
    const bytes = der.subarray(at + 2, at + 2 + length);
    if (der[at] !== 0x02 || bytes.length !== length || !isShortestPositive(bytes)) return undefined;
    const digits = bytes[0] === 0 ? bytes.subarray(1) : bytes;
    if (digits.length > SIZE) return undefined;
    raw.set(digits, offset + SIZE - digits.length);
    at += 2 + length;
  }
  return at === der.length ? raw : undefined;
}

/** Returns whether an INTEGER is above zero, and has no needless byte in front. */
function isShortestPositive([first, second = 0, ...rest]: Uint8Array): boolean {
  if (first === undefined || first >= 0x80) return false;
  return first !== 0 || second >= 0x80 || rest.length > SIZE;
}
