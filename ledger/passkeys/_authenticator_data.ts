import type { Primitives } from "../rules/mod.ts";
import { fromBase64Url, toBase64Url } from "./_base64url.ts";
import { PasskeyError } from "./_error.ts";

const USER_PRESENT = 0x01, USER_VERIFIED = 0x04, ATTESTED = 0x40;
/** Bytes of the hash, the flags and the counter. */
const HEADER = 37;
const ID_AT = HEADER + 18;

/** Requirements on the page that asked. */
export interface Expected {
  /** Base64url: SHA-256 of what is signed, or random bytes. */
  readonly challenge: string;
  /** The relying party: a domain. */
  readonly rpId: string;
  /** Origins whose pages may ask. */
  readonly origins: readonly string[];
}

/** Statements of an authenticator besides its signature. */
export interface AuthenticatorData {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Uses so far, as it counts them; 0: it does not. */
  readonly count: number;
  /** A new credential: its id, base64url, and its key in COSE. */
  readonly attested?: { readonly id: string; readonly key: Uint8Array<ArrayBuffer> };
}

/**
 * Checks what a browser says that it asked for.
 *
 * @returns its bytes
 * @throws {PasskeyError}
 * @see WebAuthn §5.8.1, §7.2 steps 10 to 14
 */
export function checkClientData(
  text: string,
  type: "webauthn.create" | "webauthn.get",
  { challenge, origins }: Expected,
): Uint8Array<ArrayBuffer> {
  const bytes = decode(text, "client data");
  const data = parse(bytes);
  if (data.type !== type) throw new PasskeyError("type", `This is no ${type} of a browser`);
  if (data.challenge !== challenge) {
    throw new PasskeyError("challenge", "It signs another challenge than the one that was given");
  }
  if (!origins.includes(data.origin as string) || data.crossOrigin === true || data.topOrigin) {
    throw new PasskeyError(
      "origin",
      `It was asked for by a page of ${String(data.origin).slice(0, 100)}, and counts for ${
        origins.join(", ")
      } alone`,
    );
  }
  return bytes;
}

/**
 * Reads what an authenticator says: that it is for this relying party, and that a person was there, and verified.
 *
 * @throws {PasskeyError}
 * @see WebAuthn §6.1
 */
export function readAuthenticatorData(
  { sha256, toHex }: Primitives,
  text: string,
  { rpId }: Expected,
): AuthenticatorData {
  const bytes = decode(text, "authenticator data");
  if (bytes.length < HEADER) {
    throw new PasskeyError("malformed", "The authenticator data are cut off");
  }
  if (toHex(bytes.subarray(0, 32)) !== sha256(new TextEncoder().encode(rpId))) {
    throw new PasskeyError("rp_id", `It is for another site than ${rpId}`);
  }
  const view = new DataView(bytes.buffer);
  const flags = view.getUint8(32);
  if (!(flags & USER_PRESENT) || !(flags & USER_VERIFIED)) {
    throw new PasskeyError(
      "user_verification",
      "The person was not verified: it takes the fingerprint, the face or the PIN of the device",
    );
  }
  const count = view.getUint32(33);
  if (!(flags & ATTESTED) || bytes.length < ID_AT) return { bytes, count };
  const idEnd = ID_AT + view.getUint16(ID_AT - 2);
  const attested = { id: toBase64Url(bytes.subarray(ID_AT, idEnd)), key: bytes.slice(idEnd) };
  return { bytes, count, attested };
}

/** @throws {PasskeyError} `malformed` */
export function decode(text: string, what: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64Url(text);
  if (!bytes) throw new PasskeyError("malformed", `The ${what} are not base64url`);
  return bytes;
}

function parse(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch { /* as below */ }
  throw new PasskeyError("malformed", "The client data are no JSON object");
}
