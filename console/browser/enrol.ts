import { call } from "./api.ts";
import { create, type NewPasskey, sign } from "./authenticator.ts";

/** Makes a passkey, and enrols it; where the person has one, that confirms it. @throws {Error} with a sentence for the person */
export async function enrol(name: string): Promise<void> {
  const given = await call<NewPasskey>("POST", "/v1/console/passkeys/challenge", {});
  const { challenge, rp_id, credentials } = given;
  const confirmation = credentials.length > 0
    ? await sign(challenge, rp_id, credentials)
    : undefined;
  const registration = await create(given);
  await call("POST", "/v1/console/passkeys", {
    challenge_id: given.challenge_id,
    name,
    registration,
    ...(confirmation ? { confirmation } : {}),
  });
}
