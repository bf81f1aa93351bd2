/** SHA-256, Ed25519 and hex, as the platform that verifies provides them: Node or a browser. */
export interface Primitives {
  /** Returns SHA-256 as lowercase hex. */
  sha256(bytes: Uint8Array): string;
  /** Verifies strictly (RFC 8032; no small-order keys). @param publicKey 32 bytes as hex @param signature 64 bytes */
  verifyEd25519(publicKey: string, message: Uint8Array, signature: Uint8Array): boolean;
  /** Returns lowercase hex. */
  toHex(bytes: Uint8Array): string;
  /** @param hex an even number of lowercase digits */
  fromHex(hex: string): Uint8Array;
}

/** Result of one check; `not_applicable`: the receipt's era can't be checked in this respect. */
export type Check = "pass" | "fail" | "not_applicable";

/** Results of the rules of a receipt's era. */
export interface Checks {
  /** SHA-256 of the canonical bytes is the stored hash. */
  readonly hash: Check;
  /** The stored fields, written canonically, are the canonical bytes. */
  readonly canonical: Check;
  /** The Ed25519 signature over the canonical bytes is right, and by a key trusted for this position. */
  readonly signature: Check;
  /** `prev_hash` is the hash of the entry before, and the position is that in the chain. */
  readonly link: Check;
}

/** Result for one receipt. */
export interface Verdict {
  readonly verified: boolean;
  readonly checks: Checks;
  /** The faults, in words; empty where it is verified. */
  readonly reasons: readonly string[];
}

/** A position at which a chain does not hold. */
export interface Break {
  readonly position: number;
  readonly reason: string;
}

/** A public key and from which position on it is trusted, until the next one's. */
export interface TrustedKey {
  /** 32 bytes as hex. */
  readonly publicKey: string;
  readonly fromPosition: number;
  /** The key that may replace this one where it is lost or stolen, as hex; undefined: a key from before successions. */
  readonly recoveryKey?: string;
  /** True where the reader knows the key from elsewhere than the ledger. */
  readonly isPinned?: boolean;
}

/** The place of a receipt in the chain, and the entry before it. */
export interface Place {
  /** From 0. */
  readonly position: number;
  /** `hash_sha256` of the entry before; empty for the first. */
  readonly previousHash: string;
  /** Era of the entry before, where it is known: eras follow each other and never go back. */
  readonly previousEra?: Era;
}

/** Era of a receipt: 1 unsigned, 2 signed without its link, 3 signed whole. */
export type Era = 1 | 2 | 3;

/** Returns the key that is trusted for a position: the last one from there or before. */
export function findTrustedKey(
  keys: readonly TrustedKey[],
  position: number,
): TrustedKey | undefined {
  return keys[findKeyIndex(keys, position)];
}

/** Returns the index of the key that is trusted for a position, or -1. */
export function findKeyIndex(keys: readonly TrustedKey[], position: number): number {
  return keys.findLastIndex(({ fromPosition }) => fromPosition <= position);
}
