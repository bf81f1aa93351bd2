/** The review of mail before it is sent: reasons to have a person look at it first. */
import { isIP } from "node:net";
import { hostname } from "node:os";
import type { MailFinding } from "../../../contract/domain/mod.ts";
import { findInjection, findPersonal, findSecrets } from "../../../judgement/guard/mod.ts";
import { parseNetworks } from "../../../integrations/http/mod.ts";

/** Text that is looked through for injections. The rest of a longer one is flagged unread. */
const MAX_INJECTION_TEXT = 10_000;
const NETWORKS = parseNetworks([]);
const ADDRESS_4 = /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])/g;
const ADDRESS_6 =
  /(?<![\w:])(?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4}|:)(?![\w:])|(?<![\w:])::1(?![\w:])/gi;
/** Names that no public name server knows. @see RFC 6762, RFC 8375, ICANN SAC113 */
const INTERNAL_NAME =
  /(?<![\w.@-])(?:[a-z0-9-]+\.)+(?:internal|intranet|private|corp|home|lan|local|localdomain|home\.arpa)(?![\w-])|(?<![\w.@-])localhost(?![\w-])/i;
const URL_TEXT = /https?:\/\/[^\s<>"')\]]+/gi;
const MARKDOWN_LINK = /\[([^\]\n]{1,300})\]\(\s*<?(https?:\/\/[^\s)>]+)/gi;
const HTML_LINK =
  /<a\s[^>]{0,500}?href\s*=\s*["']?(https?:\/\/[^\s"'>]+)[^>]{0,500}>([^<]{1,300})/gi;
const HOST_IN_TEXT = /(?:https?:\/\/)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})/iu;

/** Returns the reasons that lie in a mail's own words, each once. */
export function reviewText(subject: string, body: string): MailFinding[] {
  const text = `${subject}\n${body}`;
  const findings: MailFinding[] = [];
  const add = (code: MailFinding["code"], about: string) => findings.push({ code, about });
  for (const secret of findSecrets(text)) add("secret", `It has ${secret}`);
  const personal = findPersonal(text);
  if (personal.includes("card_number")) add("card_number", "It has the number of a payment card");
  if (personal.includes("iban")) add("iban", "It has the number of a bank account");
  if (hasInternalAddress(text)) {
    add("internal_address", "It names a host or an address of the network inside");
  }
  if (hasDeceptiveLink(text)) add("link_differs", "A link leads elsewhere than its text says");
  const injections = findInjection(text.slice(0, MAX_INJECTION_TEXT));
  if (injections.length > 0) {
    add("injection", `It would steer an agent that reads it: ${injections.join(", ")}`);
  } else if (text.length > MAX_INJECTION_TEXT) {
    add("injection", "It is too long to be looked through");
  }
  return findings;
}

function hasInternalAddress(text: string): boolean {
  const addresses = [...text.matchAll(ADDRESS_4), ...text.matchAll(ADDRESS_6)];
  const isInside = addresses.some(([address]) =>
    isIP(address) !== 0 && NETWORKS.classify(address) === "refused"
  );
  const own = hostname().toLowerCase();
  return isInside || INTERNAL_NAME.test(text) ||
    own.length > 3 && own !== "localhost" &&
      new RegExp(`(?<![\\w-])${escape(own)}(?![\\w-])`, "i").test(text);
}

const escape = (text: string) => text.replace(/[^\w-]/g, "\\$&");

/** Returns whether a link's text names another host than the link, or a URL hides its host behind a user name. */
function hasDeceptiveLink(text: string): boolean {
  const links = [
    ...[...text.matchAll(MARKDOWN_LINK)].map(([, shown, url]) => ({ shown: shown!, url: url! })),
    ...[...text.matchAll(HTML_LINK)].map(([, url, shown]) => ({ shown: shown!, url: url! })),
  ];
  if (links.some(({ shown, url }) => differs(shown, url))) return true;
  return [...text.matchAll(URL_TEXT)].some(([url]) => {
    if (!URL.canParse(url)) return false;
    const { username, hostname } = new URL(url);
    return username !== "" || /(^|\.)xn--/.test(hostname); // user@host, or letters that look like others
  });
}

function differs(shown: string, url: string): boolean {
  const named = HOST_IN_TEXT.exec(shown)?.[1];
  if (!named || !URL.canParse(url) || !URL.canParse(`https://${named}`)) return false;
  return siteOf(new URL(`https://${named}`).hostname) !== siteOf(new URL(url).hostname);
}

const siteOf = (host: string) => host.replace(/^www\./, "");
