import { Point } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import type { Primitives } from "../../rules/mod.ts";
import { HASHES } from "./hashes.ts";

/** SHA-256 and Ed25519 in JavaScript: the same in every browser, and not the server's. */
export const NOBLE: Primitives = {
  ...HASHES,
  verifyEd25519(publicKey, message, signature) {
    try {
      return verifies(hexToBytes(publicKey), message, signature);
    } catch {
      return false; // not a point of the curve, or not a number in range
    }
  },
};

const ORDER = Point.CURVE().n;

/**
 * Verifies as all verifiers of the ledger do: without the cofactor, as OpenSSL does and noble does not, canonical encodings
 * only, and no key or R of small order.
 *
 * @see RFC 8032 §5.1.7
 */
function verifies(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false;
  const encodedR = signature.subarray(0, 32);
  const [key, r] = [Point.fromBytes(publicKey), Point.fromBytes(encodedR)];
  const s = littleEndian(signature.subarray(32));
  if (s >= ORDER || key.isSmallOrder() || r.isSmallOrder()) return false;
  const k = littleEndian(sha512(concatBytes(encodedR, publicKey, message))) % ORDER;
  const expected = Point.BASE.multiply(s, false).subtract(key.multiply(k, false));
  return bytesToHex(expected.toBytes()) === bytesToHex(encodedR);
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(Uint8Array.from(bytes).reverse())}`);
}
