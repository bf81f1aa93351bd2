/**
 * Frames of a journal: its length, the complement of that, a hash over the hash of the frame before and the payload, and
 * the payload. So a frame that was not written to its end differs from one that was damaged, and none can be removed
 * from between two others.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { SignerStateError } from "./errors.ts";

const MAGIC = Buffer.from("sealoop journal 1\n");
const HEADER_BYTES = 8;
const HASH_BYTES = 32;

/** Encodes payloads as frames that follow each other. */
export class FrameWriter {
  #last: Buffer = Buffer.alloc(HASH_BYTES);
  #hasBegun = false;

  encode(payload: Buffer): Buffer {
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32BE(payload.length, 0);
    header.writeUInt32BE(~payload.length >>> 0, 4);
    this.#last = hashFrame(this.#last, payload);
    const start = this.#hasBegun ? [] : [MAGIC];
    this.#hasBegun = true;
    return Buffer.concat([...start, header, this.#last, payload]);
  }
}

/** Returns true for the beginning of a file of frames. */
export const isBeginning = (bytes: Buffer): boolean =>
  bytes.subarray(0, MAGIC.length).equals(MAGIC);

/** The frames of a file. */
export interface DecodedFrames {
  readonly payloads: readonly Buffer[];
  /** Where and why no more could be decoded; undefined: these are all. */
  readonly damage: SignerStateError | undefined;
}

/** Decodes the frames of a file. One that was not written to its end is left out: nothing was signed after it. */
export function decodeFrames(bytes: Buffer, path: string): DecodedFrames {
  const payloads: Buffer[] = [];
  const stop = (at?: number) => ({ payloads, damage: at === undefined ? at : damaged(path, at) });
  if (bytes.length < MAGIC.length || isZero(bytes)) return stop();
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return stop(0);
  let last: Buffer = Buffer.alloc(HASH_BYTES);
  for (let at = MAGIC.length; bytes.length - at >= HEADER_BYTES;) {
    const length = bytes.readUInt32BE(at);
    if ((~length >>> 0) !== bytes.readUInt32BE(at + 4)) {
      return isZero(bytes.subarray(at)) ? stop() : stop(at); // a crash leaves space without its content
    }
    const start = at + HEADER_BYTES + HASH_BYTES;
    const payload = bytes.subarray(start, start + length);
    if (bytes.length < start || payload.length < length) return stop();
    last = hashFrame(last, payload);
    if (!last.equals(bytes.subarray(at + HEADER_BYTES, start))) return stop(at);
    payloads.push(payload);
    at = start + length;
  }
  return stop();
}

function hashFrame(last: Buffer, payload: Buffer): Buffer {
  return createHash("sha256").update(last).update(payload).digest();
}

const isZero = (bytes: Buffer) => bytes.every((byte) => byte === 0);

const damaged = (path: string, at: number) =>
  new SignerStateError(
    `The signer's ${
      basename(path)
    } is damaged at byte ${at}. Put it back, or start from a checkpoint ` +
      "that is as new as possible: npm run restore -- --checkpoint <file>",
  );
