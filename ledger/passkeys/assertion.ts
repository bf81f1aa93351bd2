import type { Assertion, Passkey } from "../../contract/domain/mod.ts";
import type { Primitives } from "../rules/mod.ts";
import {
  checkClientData,
  decode,
  type Expected,
  readAuthenticatorData,
} from "./_authenticator_data.ts";
import { PasskeyError } from "./_error.ts";
import { verifySignature } from "./public_key.ts";

export { type Expected, PasskeyError };

/**
 * Verifies that a passkey has signed a challenge, on one of these pages, with its person verified.
 *
 * @returns how often it was used, as the authenticator counts; 0: it does not count
 * @throws {PasskeyError} why it does not count
 * @see WebAuthn §7.2
 */
export async function verifyAssertion(
  primitives: Primitives,
  assertion: Assertion,
  { credential_id, public_key }: Passkey,
  expected: Expected,
): Promise<number> {
  if (assertion.credential_id !== credential_id) {
    throw new PasskeyError("credential", "It is the answer of another passkey");
  }
  const clientData = checkClientData(assertion.client_data, "webauthn.get", expected);
  const { bytes, count } = readAuthenticatorData(
    primitives,
    assertion.authenticator_data,
    expected,
  );
  const hash = primitives.fromHex(primitives.sha256(clientData));
  const message = new Uint8Array(bytes.length + hash.length);
  message.set(bytes);
  message.set(hash, bytes.length);
  const signature = decode(assertion.signature, "signature");
  if (!await verifySignature(primitives, public_key, message, signature)) {
    throw new PasskeyError("signature", "The signature is not that of the passkey over this text");
  }
  return count;
}
