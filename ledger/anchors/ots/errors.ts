/** The kind of fault in a timestamp. */
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

/** A timestamp cannot be read, made or evaluated. */
export class BadTimestamp extends Error {
  override readonly name = "BadTimestamp";
  /** @param offset byte of the fault; undefined if it is not in the bytes of a file */
  constructor(readonly fault: TimestampFault, message: string, readonly offset?: number) {
    super(offset === undefined ? message : `${message} (at byte ${offset})`);
  }
}

/** Bytes are no block header, or not one that the Bitcoin network can have had at its height. */
export class BadHeader extends Error {
  override readonly name = "BadHeader";
}

/** A calendar or a source of block headers did not respond, or not as its protocol says. */
export class SourceFailed extends Error {
  override readonly name = "SourceFailed";
  /** @param source the name an operator knows it by, without credentials */
  constructor(readonly source: string, readonly reason: string) {
    super(`${source}: ${reason}`);
  }
}

/** A block does not count, or not yet; the message says why. */
export class NotConfirmed extends Error {
  override readonly name = "NotConfirmed";
}
