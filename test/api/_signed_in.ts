/** People of a test who have signed in to the console, with passkeys. */
import assert from "node:assert/strict";
import { createAuthenticator, type TestAuthenticator } from "../ledger/passkeys/_authenticator.ts";
import type { People } from "./_people.ts";
import { signInLink } from "./_sign_in.ts";

/** Headers of a page of the gateway's own. */
export const OWN_PAGE = { "sec-fetch-site": "same-origin" };

/** Headers of somebody's browser. */
export type Browser = Readonly<Record<string, string>>;

/** Returns what people do in their browsers. @param people opened before the first of it */
export function signedInPeople(people: () => People) {
  const call = (browser: Browser, method: string, path: string, body?: unknown) =>
    people().call(method, path, undefined, body, browser);

  return {
    call,
    newAuthenticator: () => createAuthenticator("localhost", people().platform.urls.gateway),
    /** Signs somebody in. @returns the headers of their browser */
    async signIn(who: string, recovers = false): Promise<Browser> {
      const body = { link: await signInLink(people(), who, recovers) };
      const answer = await people().call("POST", "/v1/console/session", undefined, body, OWN_PAGE);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.ok(
        !JSON.stringify(answer.body).includes("session_"),
        "the secret is in the cookie alone",
      );
      const cookie = answer.headers.get("set-cookie")!;
      assert.match(cookie, /^sealoop=[^;]+; Path=\/; HttpOnly; SameSite=Strict$/);
      return { ...OWN_PAGE, cookie: cookie.split(";")[0]! };
    },
    /** Enrols a passkey. @param by another one that confirms it */
    async enrol(browser: Browser, authenticator: TestAuthenticator, by?: TestAuthenticator) {
      const { body: given } = await call(browser, "POST", "/v1/console/passkeys/challenge", {});
      const { attestation: _, ...registration } = authenticator.register(given.challenge);
      return await call(browser, "POST", "/v1/console/passkeys", {
        challenge_id: given.challenge_id,
        name: "Phone",
        registration,
        ...(by ? { confirmation: by.assert(given.challenge) } : {}),
      });
    },
    /** Gets the statement about an approval. */
    async propose(browser: Browser, id: string) {
      const path = `/v1/console/approvals/${id}/statement`;
      const answer = await call(browser, "POST", path, {});
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    },
    approve: (browser: Browser, id: string, passkey: object) =>
      call(browser, "POST", `/v1/approvals/${id}/approve`, { passkey }),
  };
}
