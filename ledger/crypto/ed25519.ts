import { createPublicKey, type KeyObject, verify } from "node:crypto";

const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
/** The points of small order, and their encodings that are not canonical. A key among them signs anything. */
const SMALL_ORDER = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);
/** Last bytes of such encodings. That of a coordinate which is too large is among them. */
const SUSPECT = new Set([...SMALL_ORDER].map((hex) => parseInt(hex.slice(-2), 16) & 0x7f));
/** 2²⁵⁵ − 19: coordinates at or above it are not canonical. */
const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

const keys = new Map<string, KeyObject | undefined>();

/**
 * Verifies an Ed25519 signature strictly: canonical encodings only, and no key or R of small order.
 *
 * @param publicKey 32 bytes as hex
 * @param signature 64 bytes
 * @see RFC 8032 §5.1.7
 */
export function verifyEd25519(
  publicKey: string,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (signature.length !== 64) return false;
  const key = keyObject(publicKey);
  if (!key || !isStrict(signature)) return false;
  return verify(null, message, key, signature);
}

function keyObject(hex: string): KeyObject | undefined {
  if (keys.has(hex)) return keys.get(hex);
  if (keys.size > 1000) keys.clear();
  const key = makeKey(hex);
  keys.set(hex, key);
  return key;
}

function makeKey(hex: string): KeyObject | undefined {
  if (!/^[0-9a-f]{64}$/.test(hex) || !isPoint(Buffer.from(hex, "hex"))) return undefined;
  return createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, Buffer.from(hex, "hex")]),
    format: "der",
    type: "spki",
  });
}

/** Returns true for a canonical encoding that is not a point of small order. */
function isPoint(bytes: Uint8Array): boolean {
  if (!SUSPECT.has(bytes[31]! & 0x7f)) return true; // the common case
  const y = Uint8Array.from(bytes);
  y[31]! &= 0x7f;
  return littleEndian(y) < P && !SMALL_ORDER.has(Buffer.from(y).toString("hex"));
}

function isStrict(signature: Uint8Array): boolean {
  return isPoint(signature.subarray(0, 32)) && isBelowL(signature.subarray(32));
}

function isBelowL(s: Uint8Array): boolean {
  if (s[31]! < 0x10) return true; // the common case: far below the order's 253 bits
  return littleEndian(s) < L;
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
}
