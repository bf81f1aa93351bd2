import type { Primitives } from "../../rules/mod.ts";

/** Size and root of the log in a signed checkpoint. */
export interface SignedRoot {
  /** Number of leaves. */
  readonly size: number;
  /** Hex. */
  readonly root: string;
}

const NOTE =
  /^(([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*)\n((?:\u2014 [^\n]+\n)+)$/;
const SIGNATURE = /^\u2014 ([^ ]+) ([A-Za-z0-9+/]+={0,2})$/;
const KEY = /^([^ +]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/;
/** Algorithm byte of Ed25519 in keys. @see C2SP signed-note */
const ED25519 = 1;

/**
 * Reads a checkpoint, and verifies the log's signature.
 *
 * @param note a C2SP tlog-checkpoint
 * @param verifierKey of the log, as `name+id+key`
 * @throws {RangeError} it is no checkpoint, or not signed by this key
 */
export function verifyCheckpoint(
  note: string,
  verifierKey: string,
  primitives: Primitives,
): SignedRoot {
  const { name, id, publicKey } = parseKey(verifierKey, primitives);
  const [, text, origin, size, root, lines] = NOTE.exec(note) ?? [];
  if (text === undefined) {
    throw new RangeError("The server returned something else than a checkpoint");
  }
  if (origin !== name) throw new RangeError("The checkpoint is of another log");
  const message = new TextEncoder().encode(text);
  const isSigned = lines!.split("\n").some((line) => {
    const [, signer, value] = SIGNATURE.exec(line) ?? [];
    if (signer !== name) return false;
    const bytes = decodeBase64(value!);
    return primitives.toHex(bytes.subarray(0, 4)) === id && bytes.length === 68 &&
      primitives.verifyEd25519(publicKey, message, bytes.slice(4));
  });
  if (!isSigned) throw new RangeError("The checkpoint is not signed by the log’s key");
  return { size: Number(size), root: primitives.toHex(decodeBase64(root!)) };
}

function parseKey(verifierKey: string, { sha256, toHex }: Primitives) {
  const [, name, id, encoded] = KEY.exec(verifierKey) ?? [];
  const bytes = encoded === undefined ? new Uint8Array() : decodeBase64(encoded);
  if (name === undefined || bytes.length !== 33 || bytes[0] !== ED25519) {
    throw new RangeError("The server published something else than a log’s key");
  }
  const prefix = new TextEncoder().encode(`${name}\n`);
  if (sha256(Uint8Array.of(...prefix, ...bytes)).slice(0, 8) !== id) {
    throw new RangeError("The id in the log’s key does not match the key");
  }
  return { name, id, publicKey: toHex(bytes.subarray(1)) };
}

/** @throws {RangeError} */
function decodeBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new RangeError("The server returned something else than base64");
  }
}
