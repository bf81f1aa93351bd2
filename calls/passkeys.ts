/** Passkeys of the people who have signed in to a gateway's pages. */
import type { Assertion } from "../contract/domain/mod.ts";
import { Problem } from "../contract/mod.ts";
import { NODE_PRIMITIVES } from "../ledger/mod.ts";
import { type Expected, PasskeyError, verifyAssertion } from "../ledger/passkeys/mod.ts";
import type { Db } from "../store/mod.ts";
import { findPasskey, notePasskeyUse, type PasskeyRecord } from "../store/people/mod.ts";
import type { Platform } from "./platform.ts";

/** Seconds that a person has to answer a challenge. */
export const ANSWER_SECONDS = 300;

/** The domain that a gateway's passkeys are for, and the origins of the pages that ask for them. */
export type Site = Pick<Expected, "rpId" | "origins">;

/** A person, as their key names them. */
interface Person {
  readonly tenant: string;
  readonly principal: string;
}

/**
 * Returns the site of a gateway, by its public address.
 *
 * @throws {Problem} `NotConfigured`: browsers give passkeys to domains alone, and over TLS unless it is this machine
 */
export function siteOf({ urls }: { readonly urls: Pick<Platform["urls"], "gateway"> }): Site {
  const { hostname, origin, protocol } = new URL(urls.gateway);
  const isDomain = !/^\[|^[\d.]+$/.test(hostname);
  if (!isDomain || protocol !== "https:" && hostname !== "localhost") {
    throw new Problem(
      "NotConfigured",
      `Passkeys need a domain with TLS, or localhost, and the gateway's address is ${urls.gateway}; ` +
        "set SEALOOP_GATEWAY_URL to the address that browsers use",
    );
  }
  return { rpId: hostname, origins: [origin] };
}

/**
 * Verifies that a passkey of a person's own has signed a challenge.
 *
 * @returns it, and how often it was used, as its authenticator counts
 * @throws {Problem} `Forbidden`: why the answer does not count
 */
export async function verifyPasskey(
  db: Db,
  { tenant, principal }: Person,
  assertion: Assertion,
  expected: Expected,
): Promise<{ readonly passkey: PasskeyRecord; readonly uses: number }> {
  const passkey = await findPasskey(db, assertion.credential_id);
  if (passkey?.tenant !== tenant || passkey.principal !== principal) {
    throw new Problem("Forbidden", "This passkey is not one of yours, or was revoked");
  }
  try {
    const uses = await verifyAssertion(NODE_PRIMITIVES, assertion, passkey, expected);
    return { passkey, uses };
  } catch (error) {
    throw error instanceof PasskeyError ? new Problem("Forbidden", error.message) : error;
  }
}

/** Verifies as {@linkcode verifyPasskey}, and notes the use, which no copy of the passkey can make again. @returns the passkey */
export async function usePasskey(
  trx: Db,
  person: Person,
  assertion: Assertion,
  expected: Expected,
): Promise<PasskeyRecord> {
  const { passkey, uses } = await verifyPasskey(trx, person, assertion, expected);
  if (await notePasskeyUse(trx, passkey.credential_id, uses)) return passkey;
  throw new Problem(
    "Forbidden",
    "Your passkey says that it was used less often than before, so that somebody may have a copy: " +
      "revoke it, and enrol another one",
  );
}
