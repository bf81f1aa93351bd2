import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { BadTimestamp } from "./errors.ts";

export const toHex: (bytes: Uint8Array) => string = bytesToHex;
export const fromHex: (hex: string) => Uint8Array = hexToBytes;
export const concat: (...parts: Uint8Array[]) => Uint8Array = concatBytes;

/** Compares byte by byte; a prefix sorts before what it begins. @returns < 0, 0 or > 0 */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!;
  }
  return a.length - b.length;
}

export const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => compareBytes(a, b) === 0;

/** A cursor over bytes. Every `what` names the part that is read, for error messages. */
export interface Reader {
  /** Returns the offset of the next byte in the file. */
  readonly offset: () => number;
  byte(what: string): number;
  take(length: number, what: string): Uint8Array;
  /** Reads a LEB128 number of at most 2^53 - 1, in its shortest form. */
  varuint(what: string): number;
  /** Reads a length, then that many bytes. */
  varbytes(min: number, max: number, what: string): Uint8Array;
  /** Checks that nothing is left. @throws {BadTimestamp} */
  end(what: string): void;
}

/** Opens a reader. @param base offset of these bytes in the file, for error messages */
export function openReader(bytes: Uint8Array, base = 0): Reader {
  let at = 0;
  const reader: Reader = {
    offset: () => base + at,
    byte: (what) => reader.take(1, what)[0]!,
    take(length, what) {
      if (at + length > bytes.length) {
        throw new BadTimestamp("truncated", `The data ends within ${what}`, base + bytes.length);
      }
      at += length;
      return bytes.slice(at - length, at);
    },
    varuint(what) {
      const start = base + at;
      let value = 0;
      for (let power = 1;; power *= 128) {
        const byte = reader.byte(what);
        value += (byte & 0x7f) * power;
        if (value > Number.MAX_SAFE_INTEGER) {
          throw new BadTimestamp("varuint", `The number in ${what} is over 2^53`, start);
        }
        if (byte >= 0x80) continue;
        if (byte === 0 && power > 1) {
          throw new BadTimestamp("varuint", `The number in ${what} is padded with zeros`, start);
        }
        return value;
      }
    },
    varbytes(min, max, what) {
      const start = base + at;
      const length = reader.varuint(what);
      if (length < min || length > max) {
        const msg = `${what} has ${length} bytes; ${min} to ${max} are allowed`;
        throw new BadTimestamp("too_long", msg, start);
      }
      return reader.take(length, what);
    },
    end(what) {
      if (at < bytes.length) {
        const msg = `${bytes.length - at} bytes follow ${what}`;
        throw new BadTimestamp("trailing", msg, base + at);
      }
    },
  };
  return reader;
}

/** Encodes a number ≥ 0 as LEB128. */
export function varuint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) | 0x80);
    rest = Math.floor(rest / 128);
  }
  return Uint8Array.of(...bytes, rest);
}
