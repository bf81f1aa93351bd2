import { hash, randomBytes } from "node:crypto";

const SALT_BYTES = 32;

/** A public commitment to a private text, and the salt that is kept privately with the text. */
export interface Commitment {
  /** SHA-256 over the salt and then the text, hex. It tells nothing of the text to whoever lacks the salt. */
  readonly commitment: string;
  /** 32 random bytes. */
  readonly salt: Buffer;
}

/** Returns a new salt. */
export const makeSalt = (): Buffer => randomBytes(SALT_BYTES);

/** Commits to a text under a salt, by default a new one. */
export function commitTo(text: string, salt: Buffer = makeSalt()): Commitment {
  return { commitment: computeCommitment(salt, text), salt };
}

/** Returns the commitment to a text under a salt. Whoever holds both can check a published commitment with it. */
export function computeCommitment(salt: Uint8Array, text: string): string {
  return hash("sha256", Buffer.concat([salt, Buffer.from(text)]));
}
