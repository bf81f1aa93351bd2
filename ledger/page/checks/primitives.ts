import { hashes, verify } from "@noble/ed25519";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import type { Primitives } from "../../rules/mod.ts";

hashes.sha512 = sha512;

/** SHA-256 and strict Ed25519 (RFC 8032) in JavaScript: the same in every browser, and not the server's. */
export const NOBLE: Primitives = {
  sha256: (bytes) => bytesToHex(sha256(bytes)),
  verifyEd25519(publicKey, message, signature) {
    try {
      return verify(signature, message, hexToBytes(publicKey), { zip215: false });
    } catch {
      return false; // not a point of the curve, or not a number in range
    }
  },
  toHex: bytesToHex,
  fromHex: hexToBytes,
};
