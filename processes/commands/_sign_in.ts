import type { Config } from "../../config.ts";
import { hashKey } from "../../store/keys/mod.ts";
import type { Store } from "../../store/mod.ts";
import { listPasskeys, putSignInLink, revokePasskey } from "../../store/people/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { userKey } from "./_approver_key.ts";
import { currentUser, OPERATOR } from "./_command.ts";
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";

/** Seconds that a link is valid. */
const LINK_SECONDS = 600;

/**
 * Makes a link by which the user who gives the command signs in to the console, once.
 *
 * @param recovers revokes the user's passkeys; another one can then be enrolled after the link
 * @returns its address
 */
export async function userSignInLink(
  openStore: () => Store,
  { settings, dataDir }: Config,
  recovers: boolean,
): Promise<string> {
  const { key } = await userKey(openStore, dataDir);
  const keyId = hashKey(key).toString("hex", 0, 8);
  const store = openStore().asTenant(PLATFORM_TENANT);
  const token = await store.transaction(async (trx) => {
    if (recovers) {
      for (const { id, principal } of await listPasskeys(trx, currentUser())) {
        await revokePasskey(trx, id, principal);
        await requestSeal(trx, {
          category: "passkey_revoked",
          actor: OPERATOR,
          subject: id,
          action: "people.recover",
          outcome: "success",
        });
      }
    }
    return await putSignInLink(trx, { keyId, recovers }, LINK_SECONDS);
  });
  const gateway = settings.SEALOOP_GATEWAY_URL ??
    `${
      settings.SEALOOP_TLS_CERT === undefined ? "http" : "https"
    }://localhost:${settings.SEALOOP_GATEWAY_PORT}`;
  return `${gateway}/console/sign-in#${token}`;
}
