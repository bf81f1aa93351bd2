/** Links by which the recipients of mail opt out: one click, no login. A link reveals neither address nor tenant. */
import { timingSafeEqual } from "node:crypto";
import { optOut } from "../../integrations/crm/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import {
  type EmailRecord,
  getEmail,
  keyedHash,
  listTenants,
  type Store,
  suppressEmail,
} from "../../store/mod.ts";
import type { Platform } from "../platform.ts";

const ID_BYTES = 6;
const MAC_BYTES = 16;

/** Path of the links, before the token. */
export const UNSUBSCRIBE_PATH = "/unsubscribe/";

/** Returns the link in a mail. It is signed by the platform's secret. */
export async function unsubscribeUrl(
  { store, urls }: Pick<Platform, "store" | "urls">,
  emailId: string,
): Promise<string> {
  const id = Buffer.from(emailId.slice("EML-".length), "hex");
  const token = Buffer.concat([id, await macOf(store, store.tenant, emailId)]);
  return `${urls.gateway}${UNSUBSCRIBE_PATH}${token.toString("base64url")}`;
}

/** Returns the tenant and the mail that a token was made for; undefined: nobody made it, or the mail was erased. */
export async function readUnsubscribeToken(
  store: Store,
  token: string,
): Promise<{ readonly tenant: string; readonly email: EmailRecord } | undefined> {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== ID_BYTES + MAC_BYTES || bytes.toString("base64url") !== token) {
    return undefined;
  }
  const emailId = `EML-${bytes.toString("hex", 0, ID_BYTES)}`;
  const mac = bytes.subarray(ID_BYTES);
  for (const tenant of await listTenants(store.asPlatform())) {
    if (!timingSafeEqual(mac, await macOf(store, tenant, emailId))) continue;
    const email = await getEmail(store.asTenant(tenant), emailId);
    return email && { tenant, email };
  }
  return undefined;
}

/** Opts the recipient of a mail out, and seals it. Again it changes nothing. @returns false: nobody made this token */
export async function unsubscribe(store: Store, token: string): Promise<boolean> {
  const found = await readUnsubscribeToken(store, token);
  if (!found) return false;
  const { email: { id, contactId, recipientKey }, tenant } = found;
  const how = {
    basis: `Unsubscribe link of ${id}`,
    actor: "recipient",
    action: "email.unsubscribe",
  };
  await store.asTenant(tenant).transaction(async (trx) => {
    if (contactId) await optOut(trx, contactId, how);
    if (!await suppressEmail(trx, recipientKey, "opted_out")) return;
    await requestSeal(trx, {
      category: "consent_changed",
      actor: how.actor,
      subject: id,
      action: how.action,
      outcome: "opted_out",
      details: {},
    });
  });
  return true;
}

async function macOf(store: Store, tenant: string, emailId: string): Promise<Buffer> {
  return (await keyedHash(store, "unsubscribe", tenant, emailId)).subarray(0, MAC_BYTES);
}
