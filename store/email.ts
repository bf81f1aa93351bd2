import { domainToASCII } from "node:url";

/** An e-mail address in its normal form. */
export interface EmailAddress {
  /** To write to: as it was given, with its domain in lower case and ASCII. */
  readonly email: string;
  /** The same for all addresses of one mailbox: its local part is in lower case, without what follows a `+`. */
  readonly key: string;
}

/** Characters of a local part: no quoted ones, which hardly any provider allows and many programs get wrong. */
const LOCAL_PART = /^[^\s\p{C}\p{Z}@"(),:;<>[\\\].]+(?:\.[^\s\p{C}\p{Z}@"(),:;<>[\\\].]+)*$/u;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_LOCAL_BYTES = 64;
const MAX_BYTES = 254;

/**
 * Returns an address in its normal form, or undefined where it is none. Blanks around it are cut, the text is put in
 * Unicode's NFC, and the domain in lower case and ASCII (IDNA). Upper and lower case of the local part count as the
 * same, and so do its sub-addresses, `ada+news`, as with all large providers: else a mailbox would have as many consents
 * and limits as somebody makes up names. Dots stay: what they mean is known to the receiver's server alone.
 */
export function normalizeEmail(text: string): EmailAddress | undefined {
  const trimmed = text.trim().normalize("NFC");
  const at = trimmed.lastIndexOf("@");
  const local = trimmed.slice(0, Math.max(at, 0));
  const domain = domainToASCII(trimmed.slice(at + 1)).toLowerCase();
  const email = `${local}@${domain}`;
  if (!LOCAL_PART.test(local) || !DOMAIN.test(domain)) return undefined;
  if (Buffer.byteLength(local) > MAX_LOCAL_BYTES || Buffer.byteLength(email) > MAX_BYTES) {
    return undefined;
  }
  const mailbox = local.replace(/(?<=.)\+.*$/u, "");
  return { email, key: `${mailbox.toLowerCase()}@${domain}` };
}
