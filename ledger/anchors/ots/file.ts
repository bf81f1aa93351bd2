import { concat, openReader, sameBytes, toHex, varuint } from "./_bytes.ts";
import { BadTimestamp } from "./errors.ts";
import { hashLength, type HashName, hashNameOf, tagOf } from "./operation.ts";
import { checkSize, readTimestamp, serializeTimestamp, type Timestamp } from "./timestamp.ts";

/** A proof file (`.ots`): the digest of a file, and its timestamp. */
export interface ProofFile {
  /** Hash function that makes the digest from the file. */
  readonly hash: HashName;
  readonly digest: Uint8Array;
  readonly timestamp: Timestamp;
}

/** Content type of a proof file. */
export const OTS_TYPE = "application/vnd.opentimestamps.v1";

const MAGIC = concat(
  new TextEncoder().encode("\0OpenTimestamps\0\0Proof\0"),
  Uint8Array.of(0xbf, 0x89, 0xe2, 0xe8, 0x84, 0xe8, 0x92, 0x94),
);
const MAJOR_VERSION = 1;

/**
 * Parses a proof file. {@linkcode serializeProof} writes it back byte for byte.
 *
 * @throws {BadTimestamp}
 * @see https://github.com/opentimestamps/python-opentimestamps
 */
export function parseProof(bytes: Uint8Array): ProofFile {
  checkSize(bytes);
  if (!sameBytes(bytes.subarray(0, MAGIC.length), MAGIC)) {
    throw new BadTimestamp("magic", "The file does not begin as an OpenTimestamps proof", 0);
  }
  const reader = openReader(bytes.subarray(MAGIC.length), MAGIC.length);
  const version = reader.varuint("the major version");
  if (version !== MAJOR_VERSION) {
    const msg = `The file has major version ${version}; only ${MAJOR_VERSION} can be read`;
    throw new BadTimestamp("version", msg, MAGIC.length);
  }
  const tag = reader.byte("the digest's type");
  const hash = hashNameOf(tag, reader.offset() - 1);
  const digest = reader.take(hashLength(hash), `the ${hash} digest`);
  const timestamp = readTimestamp(reader, digest.length, 0);
  reader.end("the timestamp");
  return { hash, digest, timestamp };
}

/** Writes a proof file. @throws {BadTimestamp} the digest has the wrong length, or the timestamp is empty */
export function serializeProof({ hash, digest, timestamp }: ProofFile): Uint8Array {
  if (digest.length !== hashLength(hash)) {
    throw new BadTimestamp("digest_type", `${toHex(digest)} is no ${hash} digest`);
  }
  return concat(
    MAGIC,
    varuint(MAJOR_VERSION),
    Uint8Array.of(tagOf(hash)),
    digest,
    serializeTimestamp(timestamp),
  );
}
