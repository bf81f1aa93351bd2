import type { Config } from "../config.ts";
import { PLATFORM_TENANT } from "../contract/domain/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { hashKey, type KeyRecord } from "../store/keys/mod.ts";
import type { Store } from "../store/mod.ts";
import { listPasskeys, putSignInLink, revokePasskey } from "../store/people/mod.ts";
import { userKey } from "./_approver_key.ts";
import { currentUser, OPERATOR } from "./_operator.ts";

/** Seconds that a link is valid. */
const LINK_SECONDS = 600;

/** The holder of a key who is to sign in. */
type Holder = Pick<KeyRecord, "id" | "tenant" | "principal">;

/** How a link is made. */
interface LinkOptions {
  /** True: the person's passkeys are revoked, and after the link another one can be enrolled. */
  readonly recovers: boolean;
}

/** Makes a link by which the user who gives the command signs in to the console, once. @returns its address */
export async function userSignInLink(
  openStore: () => Store,
  config: Config,
  options: LinkOptions,
): Promise<string> {
  const { key } = await userKey(openStore, config.dataDir);
  const id = hashKey(key).toString("hex", 0, 8);
  const holder = { id, tenant: PLATFORM_TENANT, principal: currentUser() };
  return await signInLink(openStore(), config, holder, options);
}

/** Makes a link by which the holder of a key signs in to the console, once. @returns its address */
export async function signInLink(
  store: Store,
  { settings }: Config,
  { id: keyId, tenant, principal }: Holder,
  { recovers }: LinkOptions,
): Promise<string> {
  const token = await store.asTenant(tenant).transaction(async (trx) => {
    for (const passkey of recovers ? await listPasskeys(trx, principal) : []) {
      await revokePasskey(trx, passkey.id, principal);
      await requestSeal(trx, {
        category: "passkey_revoked",
        actor: OPERATOR,
        subject: "passkey",
        action: "people.recover",
        outcome: "success",
        evidence: { passkey: { passkey_id: passkey.id, key_id: keyId, principal } },
      });
    }
    return await putSignInLink(trx, { keyId, recovers }, LINK_SECONDS);
  });
  const scheme = settings.SEALOOP_TLS_CERT === undefined ? "http" : "https";
  const gateway = settings.SEALOOP_GATEWAY_URL ??
    `${scheme}://localhost:${settings.SEALOOP_GATEWAY_PORT}`;
  return `${gateway}/console/sign-in#${token}`;
}
