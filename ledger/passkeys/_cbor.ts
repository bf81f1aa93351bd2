/** CBOR, of which keys of credentials are made. */
export type CborValue = number | Uint8Array | string | Map<number | string, CborValue>;

const MAX_ITEMS = 64;
const MAX_DEPTH = 3;

/**
 * Reads the CBOR that begins at a place: integers, byte strings, texts, and maps of these.
 *
 * @returns the value and where it ends; undefined: it is something else, or cut off
 * @see RFC 8949 §3
 */
export function readCbor(
  bytes: Uint8Array,
  at = 0,
  depth = 0,
): readonly [CborValue, number] | undefined {
  const head = readHead(bytes, at);
  if (!head || depth > MAX_DEPTH) return undefined;
  const [major, count, start] = head;
  switch (major) {
    case 0:
      return [count, start];
    case 1:
      return [-1 - count, start];
    case 2:
    case 3: {
      const end = start + count;
      if (end > bytes.length) return undefined;
      const content = bytes.slice(start, end);
      return [major === 2 ? content : new TextDecoder().decode(content), end];
    }
    case 5:
      return readMap(bytes, start, count, depth + 1);
    default:
      return undefined;
  }
}

function readMap(bytes: Uint8Array, start: number, count: number, depth: number) {
  if (count > MAX_ITEMS) return undefined;
  const map = new Map<number | string, CborValue>();
  let at = start;
  for (let n = 0; n < count; n++) {
    const key = readCbor(bytes, at, depth);
    const value = key && readCbor(bytes, key[1], depth);
    if (!value || typeof key[0] === "object" || map.has(key[0])) return undefined;
    map.set(key[0], value[0]);
    at = value[1];
  }
  return [map, at] as const;
}

/** Returns the major type of what begins at a place, its number, and where that ends. */
function readHead(bytes: Uint8Array, at: number): readonly [number, number, number] | undefined {
  const first = bytes[at];
  if (first === undefined) return undefined;
  const [major, info] = [first >> 5, first & 31];
  if (info < 24) return [major, info, at + 1];
  const size = info === 24 ? 1 : info === 25 ? 2 : info === 26 ? 4 : 0;
  if (size === 0 || at + 1 + size > bytes.length) return undefined;
  let count = 0;
  for (let n = 0; n < size; n++) count = count * 256 + bytes[at + 1 + n]!;
  return [major, count, at + 1 + size];
}
