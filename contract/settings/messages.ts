import { z } from "zod";
import { pauses, port, text, url } from "./_kinds.ts";

/** Messages to people, by channels, webhooks and mail, and the pipelines of deals. */
export const MESSAGE_SETTINGS = {
  SEALOOP_COMMS: text(
    "File of who is told what, and over which channels; unset: sealoop.comms.yaml in the data folder",
  ),
  SEALOOP_WEBHOOK_KEY: z.string().regex(/^[0-9a-f]{64}$/, "Expected 32 bytes as hex").optional()
    .describe(
      "Key that encrypts the secrets of webhooks, 32 bytes as hex, the same for gateways, tool servers and workers; unset: made in the data folder",
    ),
  SEALOOP_WEBHOOK_PAUSES: pauses(
    "5,60,300,1800,3600,7200,14400,21600,36000",
    "Seconds between the attempts to deliver to a webhook; after the last one it is given up",
  ),
  SEALOOP_MAIL: text(
    "File of your rules of mail and sequences; unset: sealoop.mail.yaml in the data folder",
  ),
  SEALOOP_MAIL_FROM: z.string().regex(/^[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,200}$/)
    .default("sealoop@sealoop.local").describe(
      "Address that the platform's mail comes from, and that replies go to",
    ),
  SEALOOP_MAIL_DOMAINS: z.string().regex(/^[a-z0-9.-]+(,[a-z0-9.-]+)*$/)
    .default("sealoop.local,localhost").transform((text) => text.split(","))
    .describe("Domains whose mail is delivered on this machine, to mail/ in the data folder"),
  SEALOOP_MAIL_PORT: port(2525, "Port of the receiver of this mail, on loopback alone"),
  SEALOOP_SMTP_URL: url(
    /^smtps?$/,
    "Relay for all other mail: smtps://user@host (TLS), or smtp://user@host:587 (STARTTLS; none for loopback)",
  ),
  SEALOOP_SMTP_PASSWORD_FILE: text(
    "… and the file with the user's password, which nobody else can read",
  ),
  SEALOOP_SMTP_PAUSES: pauses(
    "5,60,300,900,3600,14400,43200",
    "Seconds between the attempts to send a mail, each only where the one before provably sent nothing",
  ),
  SEALOOP_IMAP_URL: url(
    /^imaps?$/,
    "Mailbox that replies come to: imaps://user@host/INBOX, or imap:// (STARTTLS; none for loopback)",
  ),
  SEALOOP_IMAP_PASSWORD_FILE: text(
    "… and the file with the user's password, which nobody else can read",
  ),
  SEALOOP_PIPELINES: text(
    "File of the pipelines of deals; unset: sealoop.pipelines.yaml in the data folder, or the shipped ones",
  ),
};
