/** Links in mail by which its recipients opt out or in, without a login. A link reveals neither address nor tenant. */
import { timingSafeEqual } from "node:crypto";
import { optIn, optOut } from "../../crm/records/mod.ts";
import { requestSeal } from "../../../ledger/mod.ts";
import { keyedHash, type Store } from "../../../store/mod.ts";
import { listTenants } from "../../../store/keys/mod.ts";
import { type EmailRecord, getEmail, suppressEmail } from "../../../store/mail/mod.ts";
import { type Platform } from "../../../calls/mod.ts";

const ID_BYTES = 6;
const MAC_BYTES = 16;
const CONFIRM_WITHIN_MS = 7 * 86_400_000;

/** Paths of the links, before the token. */
export const MAIL_LINKS = { unsubscribe: "/unsubscribe/", confirm: "/confirm/" } as const;

/** Purpose of a link. */
export type MailLink = keyof typeof MAIL_LINKS;

const SECRET_OF = { unsubscribe: "opt_out_links", confirm: "opt_in_links" } as const;

/** Returns a link for a mail. It is signed by the secret of such links. */
export async function mailLink(
  { store, urls }: Pick<Platform, "store" | "urls">,
  link: MailLink,
  emailId: string,
): Promise<string> {
  const id = Buffer.from(emailId.slice("EML-".length), "hex");
  const token = Buffer.concat([id, await macOf(store, link, store.tenant, emailId)]);
  return `${urls.gateway}${MAIL_LINKS[link]}${token.toString("base64url")}`;
}

/**
 * Returns the tenant and the mail that a token was made for; undefined: nobody made it, the mail was erased, or its time is
 * over.
 */
export async function readMailLink(
  store: Store,
  link: MailLink,
  token: string,
): Promise<{ readonly tenant: string; readonly email: EmailRecord } | undefined> {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== ID_BYTES + MAC_BYTES || bytes.toString("base64url") !== token) {
    return undefined;
  }
  const emailId = `EML-${bytes.toString("hex", 0, ID_BYTES)}`;
  const mac = bytes.subarray(ID_BYTES);
  for (const tenant of await listTenants(store.asPlatform())) {
    if (!timingSafeEqual(mac, await macOf(store, link, tenant, emailId))) continue;
    const email = await getEmail(store.asTenant(tenant), emailId);
    const isOver = link === "confirm" && email !== undefined &&
      Date.now() - email.createdAt.getTime() > CONFIRM_WITHIN_MS;
    return email && !isOver ? { tenant, email } : undefined;
  }
  return undefined;
}

/** Opts the recipient of a mail out, and seals it. Again it changes nothing. @returns false: nobody made this token */
export async function unsubscribe(store: Store, token: string): Promise<boolean> {
  const found = await readMailLink(store, "unsubscribe", token);
  if (!found) return false;
  const { email: { id, contactId, recipientKey }, tenant } = found;
  const how = {
    basis: `Unsubscribe link of ${id}`,
    actor: "recipient",
    action: "email.unsubscribe",
    subject: id,
  };
  await store.asTenant(tenant).transaction(async (trx) => {
    if (contactId) await optOut(trx, contactId, how);
    if (!await suppressEmail(trx, recipientKey, "opted_out")) return;
    await requestSeal(trx, {
      category: "consent_changed",
      actor: how.actor,
      subject: how.subject,
      action: how.action,
      outcome: "opted_out",
      details: {},
    });
  });
  return true;
}

/**
 * Opts the contact in whose address a mail confirms, and seals it. Again it changes nothing.
 *
 * @returns false: nobody made this token, its time is over, or the contact was erased, has opted out or has another address
 */
export async function confirmConsent(store: Store, token: string): Promise<boolean> {
  const found = await readMailLink(store, "confirm", token);
  if (!found) return false;
  const { email: { id, contactId, recipientKey }, tenant } = found;
  return await store.asTenant(tenant).transaction(async (trx) =>
    contactId !== null && await optIn(trx, contactId, {
      emailKey: recipientKey,
      basis: `Confirmed by the link of ${id}`,
      actor: "recipient",
      action: "email.confirm",
      subject: id,
    })
  );
}

async function macOf(
  store: Store,
  link: MailLink,
  tenant: string,
  emailId: string,
): Promise<Buffer> {
  return (await keyedHash(store, SECRET_OF[link], tenant, emailId)).subarray(0, MAC_BYTES);
}
