import type { PublicJwk } from "../../contract/domain/mod.ts";
import type { Primitives } from "../rules/mod.ts";
import { fromBase64Url, toBase64Url } from "./_base64url.ts";
import { type CborValue, readCbor } from "./_cbor.ts";
import { derToRaw } from "./_ecdsa_der.ts";

/** Names of the algorithms in COSE: ES256, EdDSA, RS256. */
const ES256 = -7, EDDSA = -8, RS256 = -257;

/** Algorithms that a new passkey may have, the preferred one first. */
export const ALGORITHMS: readonly number[] = [ES256, EDDSA, RS256];

/** Shortest modulus of RSA, in bytes. */
const MIN_MODULUS = 256;

/**
 * Reads a public key of a credential, of one of {@linkcode ALGORITHMS}.
 *
 * @returns undefined: it is none, or a weak one
 * @see RFC 9053 §2, §7; RFC 8230 §4
 */
export function readCoseKey(bytes: Uint8Array): PublicJwk | undefined {
  const [value, end] = readCbor(bytes) ?? [];
  if (!(value instanceof Map) || end! > bytes.length) return undefined;
  const [kty, algorithm, curve] = [value.get(1), value.get(3), value.get(-1)];
  if (kty === 2 && algorithm === ES256 && curve === 1) {
    const [x, y] = [bytesOf(value.get(-2), 32), bytesOf(value.get(-3), 32)];
    return x && y && { kty: "EC", crv: "P-256", x: toBase64Url(x), y: toBase64Url(y) };
  }
  if (kty === 1 && algorithm === EDDSA && curve === 6) {
    const x = bytesOf(value.get(-2), 32);
    return x && { kty: "OKP", crv: "Ed25519", x: toBase64Url(x) };
  }
  if (kty === 3 && algorithm === RS256) {
    const [n, e] = [bytesOf(value.get(-1)), bytesOf(value.get(-2))];
    if (!n || !e || n.length < MIN_MODULUS || n[0] === 0 || e.length > 4) return undefined;
    return { kty: "RSA", n: toBase64Url(n), e: toBase64Url(e) };
  }
  return undefined;
}

function bytesOf(value: CborValue | undefined, length?: number): Uint8Array | undefined {
  const isFit = value instanceof Uint8Array && (length === undefined || value.length === length);
  return isFit ? value : undefined;
}

/** Returns whether a signature over a message is that of a key. Never throws: what can't be read is no signature. */
export async function verifySignature(
  { verifyEd25519, toHex }: Primitives,
  key: PublicJwk,
  message: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  try {
    switch (key.kty) {
      case "EC": {
        const raw = derToRaw(signature);
        return raw !== undefined && await verifyByPlatform(
          key,
          { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
          message,
          raw,
        );
      }
      case "RSA": {
        const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
        return await verifyByPlatform(key, algorithm, message, signature);
      }
      case "OKP":
        return verifyEd25519(toHex(fromBase64Url(key.x)!), message, signature);
    }
  } catch {
    return false; // not a point of the curve, or no key at all
  }
}

async function verifyByPlatform(
  { ...jwk }: PublicJwk,
  algorithm: { readonly name: string; readonly hash: string; readonly namedCurve?: string },
  message: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const key = await crypto.subtle.importKey("jwk", jwk, algorithm, false, ["verify"]);
  return await crypto.subtle.verify(algorithm, key, signature, message);
}
