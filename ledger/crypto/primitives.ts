import { hash } from "node:crypto";
import {
  formatLeaf,
  type Hash,
  hashLeaf,
  type LeafSource,
  type Primitives,
  type Sha256,
} from "../rules/mod.ts";
import { verifyEd25519 } from "./ed25519.ts";

/** SHA-256 as 32 bytes. */
export const sha256: Sha256 = (bytes) => hash("sha256", bytes, "buffer");

/** Node's own primitives, with cached key objects. */
export const NODE_PRIMITIVES: Primitives = {
  sha256: (bytes) => hash("sha256", bytes),
  verifyEd25519,
  toHex: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex"),
  fromHex: (hex) => Buffer.from(hex, "hex"),
};

/** Returns the leaf of a receipt as bytes. @see formatLeaf */
export function encodeLeaf(receipt: LeafSource): Buffer {
  return Buffer.from(formatLeaf(receipt, NODE_PRIMITIVES.sha256));
}

/** Returns the hash of a receipt's leaf. */
export function computeLeafHash(receipt: LeafSource): Hash {
  return hashLeaf(encodeLeaf(receipt), sha256);
}
