import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import type { Primitives } from "../../rules/mod.ts";

/** SHA-256 in JavaScript, without signatures, which take four times its size. */
export const HASHES: Pick<Primitives, "sha256" | "toHex" | "fromHex"> = {
  sha256: (bytes) => bytesToHex(sha256(bytes)),
  toHex: bytesToHex,
  fromHex: hexToBytes,
};
