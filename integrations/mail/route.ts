import { readFileSync, statSync } from "node:fs";
import type { Config, Settings } from "../../config.ts";
import type { MailAddress } from "./addresses.ts";

/** A server that takes mail over. */
export interface MailServer {
  /** `local`: the receiver of this machine, whose mailboxes can be looked into; `relay`: another's. */
  readonly kind: "local" | "relay";
  readonly host: string;
  readonly port: number;
  /** `implicit`: from the first byte; `starttls`: required; `none`: on this machine alone. */
  readonly tls: "implicit" | "starttls" | "none";
  readonly login?: { readonly user: string; readonly pass: string };
}

/** Settings of mail can't be used; the message names them. */
export class BadMailSetting extends Error {
  override readonly name = "BadMailSetting";
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const PORTS = { "smtps:": 465, "smtp:": 587 } as const;

/** Returns whether mail to an address is delivered on this machine. */
export function isLocalAddress(
  { domain }: MailAddress,
  { SEALOOP_MAIL_DOMAINS: domains }: Pick<Settings, "SEALOOP_MAIL_DOMAINS">,
): boolean {
  return domains.includes(domain);
}

/**
 * Returns the server to which mail for an address is handed over; undefined: there is none.
 *
 * The relay is named by the operator, so that it may be at any address, but only a relay on this machine is spoken to
 * without TLS.
 *
 * @throws {BadMailSetting} the password can't be read
 */
export function findServer(
  to: MailAddress,
  { settings }: Pick<Config, "settings">,
): MailServer | undefined {
  if (isLocalAddress(to, settings)) {
    return { kind: "local", host: "127.0.0.1", port: settings.SEALOOP_MAIL_PORT, tls: "none" };
  }
  if (!settings.SEALOOP_SMTP_URL) return undefined;
  const url = new URL(settings.SEALOOP_SMTP_URL);
  const isImplicit = url.protocol === "smtps:";
  const isHere = LOOPBACK.test(url.hostname);
  return {
    kind: "relay",
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || PORTS[url.protocol as keyof typeof PORTS],
    tls: isImplicit ? "implicit" : isHere ? "none" : "starttls",
    ...(url.username
      ? {
        login: {
          user: decodeURIComponent(url.username),
          pass: readPassword("SEALOOP_SMTP_PASSWORD_FILE", settings.SEALOOP_SMTP_PASSWORD_FILE),
        },
      }
      : {}),
  };
}

/** Reads a password that nobody else can read. @throws {BadMailSetting} */
export function readPassword(setting: string, path: string | undefined): string {
  if (!path) throw new BadMailSetting(`The server's URL names a user: set ${setting}, too`);
  try {
    if (statSync(path).mode & 0o077) {
      throw new BadMailSetting(`Others can read ${path}, which ${setting} names: chmod 600 it`);
    }
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    if (error instanceof BadMailSetting) throw error;
    throw new BadMailSetting(
      `Cannot read the file that ${setting} names: ${(error as Error).message}`,
    );
  }
}
