import type { Passkey, Registration } from "../../contract/domain/mod.ts";
import type { Primitives } from "../rules/mod.ts";
import { checkClientData, type Expected, readAuthenticatorData } from "./_authenticator_data.ts";
import { PasskeyError } from "./_error.ts";
import { readCoseKey } from "./public_key.ts";

/**
 * Verifies that a credential was made on one of these pages, with its person verified.
 *
 * @throws {PasskeyError} why it can't be used
 * @see WebAuthn §7.1
 */
export function verifyRegistration(
  primitives: Primitives,
  { credential_id, client_data, authenticator_data }: Registration,
  expected: Expected,
): Passkey & { readonly count: number } {
  checkClientData(client_data, "webauthn.create", expected);
  const { attested, count } = readAuthenticatorData(primitives, authenticator_data, expected);
  if (attested?.id !== credential_id) {
    throw new PasskeyError("credential", "The answer is about another credential");
  }
  const public_key = readCoseKey(attested.key);
  if (!public_key) {
    throw new PasskeyError(
      "algorithm",
      "Its key is none of ES256, Ed25519 and RS256 with 2,048 bits at least",
    );
  }
  return { credential_id, public_key, count };
}
