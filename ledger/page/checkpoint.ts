import type { Primitives } from "../rules/mod.ts";

/** What a signed checkpoint says of the log. */
export interface SignedRoot {
  /** Leaves. */
  readonly size: number;
  /** Hex. */
  readonly root: string;
}

const NOTE =
  /^(([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*)\n((?:\u2014 [^\n]+\n)+)$/;
const KEY = /^([^ +]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/;
/** Ed25519 over the note's text. @see C2SP signed-note */
const ED25519 = 1;

/**
 * Reads a checkpoint that the log itself has signed.
 *
 * @param note a C2SP tlog-checkpoint
 * @param verifierKey of the log, as `name+id+key`
 * @throws {RangeError} it is none, or not signed by this key
 */
export function openCheckpoint(
  note: string,
  verifierKey: string,
  primitives: Primitives,
): SignedRoot {
  const { name, id, publicKey } = openKey(verifierKey, primitives);
  const [, text, origin, size, root, lines] = NOTE.exec(note) ?? [];
  if (text === undefined) throw new RangeError("What the server gave is no checkpoint");
  if (origin !== name) throw new RangeError("The checkpoint is of another log");
  const message = new TextEncoder().encode(text);
  const signed = lines!.split("\n").some((line) => {
    const [, signer, value] = /^\u2014 ([^ ]+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? [];
    if (signer !== name) return false;
    const bytes = fromBase64(value!);
    return primitives.toHex(bytes.subarray(0, 4)) === id && bytes.length === 68 &&
      primitives.verifyEd25519(publicKey, message, bytes.slice(4));
  });
  if (!signed) throw new RangeError("The checkpoint is not signed by the log’s key");
  return { size: Number(size), root: primitives.toHex(fromBase64(root!)) };
}

function openKey(verifierKey: string, { sha256, toHex }: Primitives) {
  const [, name, id, encoded] = KEY.exec(verifierKey) ?? [];
  const bytes = encoded === undefined ? new Uint8Array() : fromBase64(encoded);
  if (name === undefined || bytes.length !== 33 || bytes[0] !== ED25519) {
    throw new RangeError("What the server published is no key of a log");
  }
  const head = new TextEncoder().encode(`${name}\n`);
  if (sha256(Uint8Array.of(...head, ...bytes)).slice(0, 8) !== id) {
    throw new RangeError("The id in the log’s key is not that key’s");
  }
  return { name, id, publicKey: toHex(bytes.subarray(1)) };
}

/** @throws {RangeError} */
function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new RangeError("The server gave something that is no base64");
  }
}
