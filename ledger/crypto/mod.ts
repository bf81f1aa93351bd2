/**
 * SHA-256 and Ed25519 of Node for the ledger's rules, and the keys of its signatures.
 *
 * ```ts
 * const { privateKey, publicKey } = loadSigningKey("ledger.key");
 * const { verdict } = verifyRecord(json, place, keys, NODE_PRIMITIVES);
 * ```
 *
 * @module
 */
export { verifyEd25519 } from "./ed25519.ts";
export { computeLeafHash, encodeLeaf, NODE_PRIMITIVES, sha256 } from "./primitives.ts";
export { computeFingerprint, pinKeys, readPublicKey, selectTrustedKeys } from "./public_key.ts";
export { BadKeyFile, loadSigningKey, type SigningKey } from "./signing_key.ts";
