/** What kind of fault a timestamp has. */
export type TimestampFault =
  | "magic"
  | "version"
  | "digest_type"
  | "truncated"
  | "trailing"
  | "varuint"
  | "too_long"
  | "too_deep"
  | "operation"
  | "attestation"
  | "empty";

/** A timestamp can't be read, made or evaluated. The message says what was found, where, and what would be right. */
export class BadTimestamp extends Error {
  override readonly name = "BadTimestamp";
  /** @param offset byte at which it was found; undefined where it is not about bytes of a file */
  constructor(readonly fault: TimestampFault, what: string, readonly offset?: number) {
    super(offset === undefined ? what : `${what} (at byte ${offset})`);
  }
}

/** A block header is none, or not one that the Bitcoin network can have had at its height. */
export class BadHeader extends Error {
  override readonly name = "BadHeader";
}

/** A calendar or a source of block headers did not answer, or not as its protocol says. */
export class SourceFailed extends Error {
  override readonly name = "SourceFailed";
  /** @param source what an operator knows it by, without credentials */
  constructor(readonly source: string, readonly reason: string) {
    super(`${source}: ${reason}`);
  }
}
