import { z } from "zod";
import { count, days, text, urls } from "./_kinds.ts";

/** Those that the official client uses. */
const PUBLIC_CALENDARS = [
  "https://a.pool.opentimestamps.org",
  "https://b.pool.opentimestamps.org",
  "https://a.pool.eternitywall.com",
  "https://ots.btc.catallaxy.com",
];
/** Two Esplora endpoints of different operators. */
const PUBLIC_SOURCES = ["https://blockstream.info/api", "https://mempool.space/api"];

/** The ledger: its log, witnesses and anchors, and how long private texts are kept. */
export const LEDGER_SETTINGS = {
  SEALOOP_LEDGER_ORIGIN: z.string().regex(/^[^\s+]+$/, "Expected a name without spaces or +")
    .optional()
    .describe(
      "Name of the Merkle log in its checkpoints; unset: SEALOOP_LEDGER_URL without the scheme, or sealoop.localhost",
    ),
  SEALOOP_LEDGER_RECOVERY_KEY: z.string().regex(/^[0-9a-f]{64}$/, "Expected 32 bytes as hex")
    .optional()
    .describe(
      "Public recovery key that a new ledger begins with, as hex; unset: the one in the database, which npm start makes, showing the private key once",
    ),
  SEALOOP_SIGNER_SOCKET: text(
    "Unix socket of the process that has the ledger's key: npm run signer listens on it, and the sequencer asks there; unset: the key is ledger.key in the sequencer's data folder",
  ),
  SEALOOP_JOURNAL: z.string().regex(/^[a-z0-9-]{1,40}$/, "Expected a-z, 0-9 and -").optional()
    .describe(
      "Folder of the bucket SEALOOP_BLOBS_URL in which the sequencer keeps the signer's journal, for standbys on other machines; unset: the folder signer of the data folder",
    ),
  SEALOOP_WITNESSES: text(
    "Witnesses that cosign checkpoints: of each its verifier key and its URL, with a space between; comma-separated",
  ),
  SEALOOP_WITNESS_QUORUM: count(
    0,
    "Number of these witnesses without whose cosignatures no checkpoint is published",
  ),
  SEALOOP_REQUIRE_SYNC: z.coerce.number().int().min(0).max(10).default(0).describe(
    "Number of synchronous standbys of PostgreSQL without which the sequencer commits no receipt; requests wait meanwhile; 0: none is needed",
  ),
  SEALOOP_OTS_CALENDARS: urls(
    /^/,
    PUBLIC_CALENDARS,
    "OpenTimestamps calendars by their addresses, or public, or none: nothing is anchored",
  ),
  SEALOOP_BITCOIN_SOURCES: urls(
    /^core\+/,
    PUBLIC_SOURCES,
    "Sources of block headers: Esplora addresses, core+http://user:password@127.0.0.1:8332, public, none",
  ),
  SEALOOP_ANCHOR_SECONDS: z.coerce.number().int().min(1).max(86400).default(600)
    .describe("Seconds until a calendar is first asked again; the pauses grow to six hours"),
  SEALOOP_EVIDENCE_DAYS: days(
    0,
    "Days that private evidence behind receipts is kept; receipts stay, and verify as before; 0: for ever",
  ),
  SEALOOP_EVIDENCE_ANONYMOUS_DAYS: days(
    30,
    "… of requests by callers without a key, where that is less; 0: as long as the others",
  ),
  SEALOOP_COMMAND_DAYS: days(
    90,
    "Days that outputs of commands on devices, and what devices stated about them, are kept; how commands ended and " +
      "their receipts stay; 0: for ever",
  ),
};
