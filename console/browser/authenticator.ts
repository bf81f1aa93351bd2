/** Calls of the browser's authenticators. */
import type { Assertion, Registration } from "../../contract/domain/mod.ts";

/** Options of a new passkey. */
export interface NewPasskey {
  readonly challenge_id: string;
  readonly challenge: string;
  readonly rp_id: string;
  readonly user_id: string;
  readonly user_name: string;
  readonly algorithms: readonly number[];
  readonly credentials: readonly string[];
}

/** Milliseconds that a person has. */
const TIMEOUT_MS = 240_000;

/** Has a passkey sign a challenge. @throws {Error} with a sentence for the person */
export async function sign(
  challenge: string,
  rpId: string,
  credentials: readonly string[],
): Promise<Assertion> {
  const credential = await asked(navigator.credentials.get({
    publicKey: {
      challenge: toBytes(challenge),
      rpId,
      allowCredentials: credentials.map((id) => ({ type: "public-key", id: toBytes(id) })),
      userVerification: "required",
      timeout: TIMEOUT_MS,
    },
  }));
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    credential_id: credential.id,
    client_data: toText(response.clientDataJSON),
    authenticator_data: toText(response.authenticatorData),
    signature: toText(response.signature),
  };
}

/** Makes a passkey. @throws {Error} with a sentence for the person */
export async function create(
  { challenge, rp_id, user_id, user_name, algorithms, credentials }: NewPasskey,
): Promise<Registration> {
  const credential = await asked(navigator.credentials.create({
    publicKey: {
      challenge: toBytes(challenge),
      rp: { id: rp_id, name: "sealoop" },
      user: { id: toBytes(user_id), name: user_name, displayName: user_name },
      pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: credentials.map((id) => ({ type: "public-key", id: toBytes(id) })),
      authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
      attestation: "none",
      timeout: TIMEOUT_MS,
    },
  }));
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    credential_id: credential.id,
    client_data: toText(response.clientDataJSON),
    authenticator_data: toText(response.getAuthenticatorData()),
  };
}

async function asked(answer: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await answer;
    if (credential) return credential as PublicKeyCredential;
  } catch (error) {
    const { name, message } = error as DOMException;
    if (name !== "NotAllowedError") throw new Error(`The passkey can't be used: ${message}`);
  }
  throw new Error("Nothing was signed: the passkey was not used, or there is none on this device");
}

const toBytes = (text: string) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));

/** Returns bytes as base64url. */
export const toText = (bytes: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
