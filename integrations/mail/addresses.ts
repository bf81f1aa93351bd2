import { normalizeEmail } from "../../store/mod.ts";

/** An address of mail. */
export interface MailAddress {
  readonly local: string;
  /** In lower case and ASCII. */
  readonly domain: string;
  /** Both, as they are sent. */
  readonly text: string;
  /** The same for all addresses of one mailbox. */
  readonly key: string;
}

/**
 * Parses one plain address, such as `ada@example.com`. Letters beyond ASCII before the `@` are not taken, since not every
 * server can be told of them.
 *
 * @returns undefined: it is none
 */
export function parseAddress(written: string): MailAddress | undefined {
  const address = normalizeEmail(written);
  if (!address || !/^[\x21-\x7e]+$/.test(address.email)) return undefined;
  const { email: text, key } = address;
  const at = text.lastIndexOf("@");
  return { local: text.slice(0, at), domain: text.slice(at + 1), text, key };
}
