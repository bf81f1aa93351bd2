/** A person's browser that has signed in to the gateway of a test. */
import assert from "node:assert/strict";
import type { TestAuthenticator } from "../ledger/passkeys/_authenticator.ts";
import type { People } from "./_people.ts";
import { signInLink } from "./_sign_in.ts";

const OWN_PAGE = { "sec-fetch-site": "same-origin" };

/** A browser with a session. */
export interface Browser {
  /** Calls the gateway as its own page does. */
  call(method: string, path: string, body?: unknown): ReturnType<People["call"]>;
  /** Enrols the first passkey. */
  enrol(authenticator: TestAuthenticator): Promise<void>;
}

/** Signs the holder of a key in. @param recovers whether they may enrol a passkey without another one */
export async function openBrowser(people: People, who: string, recovers = true): Promise<Browser> {
  const body = { link: await signInLink(people, who, recovers) };
  const answer = await people.call("POST", "/v1/console/session", undefined, body, OWN_PAGE);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const headers = { ...OWN_PAGE, cookie: answer.headers.get("set-cookie")!.split(";")[0]! };
  const call: Browser["call"] = (method, path, sent) =>
    people.call(method, path, undefined, sent, headers);
  return {
    call,
    async enrol(authenticator) {
      const { body: given } = await call("POST", "/v1/console/passkeys/challenge", {});
      const { attestation: _, ...registration } = authenticator.register(given.challenge);
      const enrolled = await call("POST", "/v1/console/passkeys", {
        challenge_id: given.challenge_id,
        name: "Phone",
        registration,
      });
      assert.equal(enrolled.status, 201, JSON.stringify(enrolled.body));
    },
  };
}
