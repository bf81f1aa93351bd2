import { z } from "zod";

const Base64Url = z.string().max(8_192).regex(/^[A-Za-z0-9_-]+$/, "Expected base64url");

/** A browser's answer that a passkey has signed. */
export const Assertion = z.strictObject({
  credential_id: Base64Url,
  client_data: Base64Url,
  authenticator_data: Base64Url,
  signature: Base64Url,
});

/** Id of a challenge. */
export const ChallengeId = z.string().regex(/^[0-9a-f]{32}$/, "Expected 32 hex characters")
  .describe("The challenge that is answered");

/** A browser's answer about a new credential. */
export const Registration = Assertion.omit({ signature: true });

/** The answer of a passkey to a challenge. */
export const PasskeyAnswer = z.strictObject({ challenge_id: ChallengeId, assertion: Assertion });

/** An answer, in examples. */
export const exampleAssertion = {
  credential_id: "q3mVx0GkT8Wm2bE1yRzN5A",
  client_data: "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
  authenticator_data: "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ",
  signature: "MEUCIQDx1Q",
};
