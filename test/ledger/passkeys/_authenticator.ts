import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { Assertion, Registration } from "../../../contract/domain/mod.ts";

/** What an authenticator of a test does other than it should. */
export interface Deviations {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly flags?: number;
  readonly crossOrigin?: boolean;
  readonly count?: number;
}

/** An authenticator with one credential. */
export interface TestAuthenticator {
  readonly credentialId: string;
  register(challenge: string, deviations?: Deviations): Registration & { attestation: string };
  assert(challenge: string, deviations?: Deviations): Assertion;
}

/** Kinds of keys that passkeys have. */
export type Algorithm = "ES256" | "RS256" | "EdDSA";

const PRESENT_AND_VERIFIED = 0x05;

/** Makes an authenticator in software, whose person is always there. */
export function createAuthenticator(
  rpId: string,
  origin: string,
  algorithm: Algorithm = "ES256",
): TestAuthenticator {
  const { privateKey, publicKey } = keyPair(algorithm);
  const id = randomBytes(32);
  const credentialId = id.toString("base64url");
  let count = 0;

  const clientData = (type: string, challenge: string, deviations: Deviations) =>
    Buffer.from(JSON.stringify({
      type: deviations.type ?? type,
      challenge,
      origin: deviations.origin ?? origin,
      crossOrigin: deviations.crossOrigin ?? false,
    }));
  const authenticatorData = (deviations: Deviations, flags: number, rest = Buffer.alloc(0)) => {
    const header = Buffer.alloc(5);
    header.writeUInt8(deviations.flags ?? flags);
    header.writeUInt32BE(deviations.count ?? ++count, 1);
    return Buffer.concat([sha256(deviations.rpId ?? rpId), header, rest]);
  };
  return {
    credentialId,
    register(challenge, deviations = {}) {
      const size = Buffer.alloc(2);
      size.writeUInt16BE(id.length);
      const attested = Buffer.concat([Buffer.alloc(16), size, id, coseKey(publicKey)]);
      const data = authenticatorData(deviations, PRESENT_AND_VERIFIED | 0x40, attested);
      return {
        credential_id: credentialId,
        client_data: clientData("webauthn.create", challenge, deviations).toString("base64url"),
        authenticator_data: data.toString("base64url"),
        attestation: Buffer.concat([
          Buffer.from("a363666d74646e6f6e656761747453746d74a0686175746844617461", "hex"),
          cborHead(2, data.length),
          data,
        ]).toString("base64url"),
      };
    },
    assert(challenge, deviations = {}) {
      const client = clientData("webauthn.get", challenge, deviations);
      const data = authenticatorData(deviations, PRESENT_AND_VERIFIED);
      const message = Buffer.concat([data, sha256(client)]);
      const signature = sign(algorithm === "EdDSA" ? null : "sha256", message, privateKey);
      return {
        credential_id: credentialId,
        client_data: client.toString("base64url"),
        authenticator_data: data.toString("base64url"),
        signature: signature.toString("base64url"),
      };
    },
  };
}

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest();

function keyPair(algorithm: Algorithm): { privateKey: KeyObject; publicKey: KeyObject } {
  if (algorithm === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" });
  if (algorithm === "RS256") return generateKeyPairSync("rsa", { modulusLength: 2048 });
  return generateKeyPairSync("ed25519");
}

/** @see RFC 9053 §7, RFC 8230 §4 */
function coseKey(key: KeyObject): Buffer {
  const { kty, x, y, n, e } = key.export({ format: "jwk" }) as Record<string, string>;
  const bytes = (text: string) => Buffer.from(text, "base64url");
  if (kty === "EC") return cborMap([[1, 2], [3, -7], [-1, 1], [-2, bytes(x!)], [-3, bytes(y!)]]);
  if (kty === "OKP") return cborMap([[1, 1], [3, -8], [-1, 6], [-2, bytes(x!)]]);
  return cborMap([[1, 3], [3, -257], [-1, bytes(n!)], [-2, bytes(e!)]]);
}

function cborMap(entries: readonly (readonly [number, number | Buffer])[]): Buffer {
  const parts = entries.flatMap(([key, value]) => [
    cborInteger(key),
    typeof value === "number"
      ? cborInteger(value)
      : Buffer.concat([cborHead(2, value.length), value]),
  ]);
  return Buffer.concat([cborHead(5, entries.length), ...parts]);
}

const cborInteger = (value: number) => value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);

function cborHead(major: number, count: number): Buffer {
  const type = major << 5;
  if (count < 24) return Buffer.from([type | count]);
  if (count < 256) return Buffer.from([type | 24, count]);
  return Buffer.from([type | 25, count >> 8, count & 255]);
}
