/** Every setting of the environment: how it is checked, its default, and its description. `config.ts` reads them. */
import { z } from "zod";

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
/** Those that the official client uses. */
const PUBLIC_CALENDARS = [
  "https://a.pool.opentimestamps.org",
  "https://b.pool.opentimestamps.org",
  "https://a.pool.eternitywall.com",
  "https://ots.btc.catallaxy.com",
];
/** Two Esplora endpoints of different operators. */
const PUBLIC_SOURCES = ["https://blockstream.info/api", "https://mempool.space/api"];

const port = (fallback: number, about: string) =>
  z.coerce.number().int().min(1).max(65535).default(fallback).describe(about);
const count = (fallback: number, about: string) =>
  z.coerce.number().int().min(0).max(1_000_000_000).default(fallback).describe(about);
const days = (fallback: number, about: string) =>
  z.coerce.number().int().min(0).max(36_500).default(fallback).describe(about);
const flag = (about: string) =>
  z.enum(["true", "false"]).default("false").transform((v) => v === "true").describe(about);
const url = (protocol: RegExp, about: string) => z.url({ protocol }).optional().describe(about);
/** Addresses separated by commas, or a word for a list of them. Plain HTTP goes no further than this machine. */
const urls = (prefix: RegExp, wellKnown: readonly string[], about: string) =>
  z.string().default("public")
    .transform((text) => text === "none" ? [] : text === "public" ? wellKnown : text.split(","))
    .refine((all) => all.every((one) => isSafe(one.replace(prefix, ""))), {
      message: "Expected public, none, or https addresses (http for loopback alone) and commas",
    })
    .transform((all) => all.map((one) => one.replace(/\/$/, ""))).describe(about);
const secret = (about: string) => z.string().min(1).optional().describe(about);
const safe = (about: string) =>
  z.url().refine(isSafe, "Expected https (http for loopback alone)")
    .transform((address) => address.replace(/\/$/, "")).describe(about);
const postgres = (about: string) => url(/^postgres(ql)?$/, about);

/** Returns true for an address of HTTPS, or of plain HTTP on this machine. */
function isSafe(address: string): boolean {
  if (!/^https?:\/\/\S+$/.test(address) || !URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || LOOPBACK.test(hostname);
}

const CREDENTIALS = z.record(z.string(), z.string().min(1));
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Settings from the environment, by name. The table in `docs/operating.md` is made from this.
 *
 * Temporal's own variables (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_TLS_…`, `TEMPORAL_CONFIG_FILE`)
 * are read by its SDK's environment configuration and are not repeated here.
 */
export const SETTINGS = z.strictObject({
  SEALOOP_DATA: z.string().min(1).default(".data")
    .describe("Folder of all state; relative to the project"),
  SEALOOP_GATEWAY_PORT: port(8080, "Port of the REST gateway"),
  SEALOOP_MCP_PORT: port(8081, "Port of the tool server"),
  SEALOOP_MCP_URL: url(
    /^https?$/,
    "Public address of the tool server, the one by which its clients reach it; unset: where it listens",
  ),
  SEALOOP_MCP_KEY: secret("API key that npm run mcp:stdio acts with"),
  SEALOOP_A2A_TOKEN: secret(
    "What other agents send as x-a2a-token to the gateway; unset: it takes no messages of theirs",
  ),
  SEALOOP_LEDGER_PORT: port(8082, "Port of the public ledger"),
  SEALOOP_ENGINE_PORT: port(
    8083,
    "Port of the incident engine, which only the other processes ask",
  ),
  SEALOOP_TEMPORAL_PORT: port(7233, "Port of the embedded Temporal"),
  SEALOOP_TEMPORAL_UI_PORT: port(8233, "Port of the embedded Temporal's Web UI"),
  SEALOOP_POSTGRES_PORT: port(5433, "Port of the embedded PostgreSQL"),
  DATABASE_URL: postgres(
    "PostgreSQL to use in place of the embedded one, as the role sealoop_owner",
  ),
  SEALOOP_DATABASE_GATEWAY_URL: postgres("The same database as the gateway's role"),
  SEALOOP_DATABASE_TOOLS_URL: postgres("… as the tool server's"),
  SEALOOP_DATABASE_WORKER_URL: postgres("… as the worker's"),
  SEALOOP_DATABASE_ENGINE_URL: postgres("… as the engine's"),
  SEALOOP_DATABASE_SEQUENCER_URL: postgres("… as the sequencer's, which appends receipts"),
  SEALOOP_DATABASE_LEDGER_URL: postgres("… as the public ledger's, which can only SELECT"),
  SEALOOP_DATABASE_OPERATOR_URL: postgres("… as the one of the operator's commands"),
  SEALOOP_DATABASE_BACKUP_URL: postgres(
    "… as a role that sees all rows (a superuser, or BYPASSRLS), for npm run backup and npm run restore alone",
  ),
  SEALOOP_SERVICES: z.string().min(1).optional()
    .describe("File of the services to watch; unset: sealoop.services.yaml in the data folder"),
  SEALOOP_DETECTORS: z.string().min(1).optional()
    .describe(
      "File that configures the detectors; unset: sealoop.detectors.yaml in the data folder",
    ),
  SEALOOP_RUNBOOKS: z.string().min(1).optional()
    .describe("Folder of your own runbooks; unset: runbooks in the data folder"),
  SEALOOP_SCRIPTS: z.string().min(1).optional()
    .describe("Folder of your own scripts for devices; unset: scripts in the data folder"),
  SEALOOP_POLICY: z.string().min(1).optional()
    .describe("File of the guardrails' policy; unset: sealoop.policy.yaml in the data folder"),
  SEALOOP_BIND: z.string().min(1).default("127.0.0.1")
    .describe("Address that the three servers listen on; other than loopback needs TLS"),
  SEALOOP_TLS_CERT: z.string().optional().describe("PEM file of the certificate chain"),
  SEALOOP_TLS_KEY: z.string().optional().describe("PEM file of the certificate's key"),
  SEALOOP_TLS_PROXY: flag("true: a proxy in front of the servers ends TLS"),
  SEALOOP_TRUSTED_HOPS: count(0, "Proxies in front whose X-Forwarded-For entries are believed"),
  SEALOOP_LEDGER_URL: url(
    /^https?$/,
    "Public address of the ledger, for verify_url; unset: where it listens",
  ),
  SEALOOP_LEDGER_ORIGIN: z.string().regex(/^[^\s+]+$/, "Expected a name without spaces or +")
    .optional()
    .describe(
      "Name of the Merkle log in its checkpoints; unset: SEALOOP_LEDGER_URL without the scheme, or sealoop.localhost",
    ),
  SEALOOP_LEDGER_RECOVERY_KEY: z.string().regex(/^[0-9a-f]{64}$/, "Expected 32 bytes as hex")
    .optional()
    .describe(
      "Public recovery key that a new ledger begins with, as hex; unset: npm start makes one, and shows the private key once",
    ),
  SEALOOP_WITNESSES: z.string().min(1).optional()
    .describe(
      "Witnesses that cosign checkpoints: of each its verifier key and its URL, with a space between; comma-separated",
    ),
  SEALOOP_WITNESS_QUORUM: count(
    0,
    "Number of these witnesses without whose cosignatures no checkpoint is published",
  ),
  SEALOOP_GATEWAY_URL: url(/^https?$/, "Public address of the gateway; unset: where it listens"),
  SEALOOP_ENGINE_URL: url(
    /^https?$/,
    "Address of an engine that runs elsewhere; unset: npm start runs one, on SEALOOP_ENGINE_PORT",
  ),
  SEALOOP_ENGINE_SECRET: z.string().min(32).optional().describe(
    "What the engine and those who ask it both know, at least 32 characters; unset: made in the data folder",
  ),
  SEALOOP_ANTHROPIC_API_KEY: secret(
    "Key of Anthropic: a model of theirs classifies reports, and answers POST /v1/ai/anthropic",
  ),
  SEALOOP_ANTHROPIC_URL: safe("Address of Anthropic's API").default("https://api.anthropic.com"),
  SEALOOP_ANTHROPIC_MODEL: z.string().min(1).default("claude-haiku-5-5").describe(
    "… and the model",
  ),
  SEALOOP_OPENAI_API_KEY: secret(
    "Key of OpenAI, or of a server that speaks its language: likewise",
  ),
  SEALOOP_OPENAI_URL: safe("Address of such a server, with its /v1; unset: OpenAI's own")
    .optional(),
  SEALOOP_OPENAI_MODEL: z.string().min(1).default("gpt-5.4-mini").describe("… and the model"),
  SEALOOP_OLLAMA_URL: url(/^https?$/, "Address of an Ollama: likewise"),
  SEALOOP_OLLAMA_MODEL: z.string().min(1).default("llama3.2").describe("… and the model"),
  SEALOOP_MODEL_MS: z.coerce.number().int().min(100).max(1_800).default(1_500)
    .describe("Milliseconds that a model has; after that the engine's own verdict is given"),
  SEALOOP_MODEL_WRITE_MS: z.coerce.number().int().min(0).max(15_000).default(10_000)
    .describe("… to write an answer; after that the rules' own is given. 0: it only classifies"),
  SEALOOP_MODELS: z.string().min(1).optional().describe(
    "File of budgets, privacy and prices of models; unset: sealoop.models.yaml in the data folder",
  ),
  SEALOOP_MODEL_SILENCE_SECONDS: z.coerce.number().int().min(1).max(300).default(60).describe(
    "Seconds that a model asked over /v1/ai may be silent; after that its answer counts as cut off",
  ),
  SEALOOP_LIMIT_FREE: count(100, "Requests a day of a free key or an anonymous address"),
  SEALOOP_LIMIT_PARTNER: count(1000, "Requests a day of a partner key"),
  SEALOOP_LIMIT_ENTERPRISE: count(10000, "Requests a day of an enterprise key"),
  SEALOOP_LIMIT_CLASSIFY_FREE: count(10, "Reports classified a day, of a free key or address"),
  SEALOOP_LIMIT_CLASSIFY_PARTNER: count(100, "Reports classified a day, of a partner key"),
  SEALOOP_LIMIT_CLASSIFY_ENTERPRISE: count(1000, "Reports classified a day, of an enterprise key"),
  SEALOOP_LIMIT_APPLICATIONS: count(5, "Applications of partners a day, of one address"),
  SEALOOP_LIMIT_ALL_APPLICATIONS: count(200, "… and of all addresses together"),
  SEALOOP_LIMIT_IDEMPOTENCY: count(
    10000,
    "Calls with an idempotency key a day, of a key or of all anonymous addresses",
  ),
  SEALOOP_LIMIT_ANONYMOUS_RECEIPTS: count(
    100,
    "Receipts a day that callers without a key cause, of one address (of IPv6: of one /64)",
  ),
  SEALOOP_LIMIT_ANONYMOUS_BYTES: count(
    5_000_000,
    "… and bytes of these receipts and their evidence, each counted as twice its request and 16 KiB",
  ),
  SEALOOP_LIMIT_ALL_ANONYMOUS_RECEIPTS: count(
    10_000,
    "Receipts a day that all callers without a key cause together",
  ),
  SEALOOP_LIMIT_ALL_ANONYMOUS_BYTES: count(400_000_000, "… and their bytes"),
  SEALOOP_LIMIT_ALL_ANONYMOUS: count(
    1_000_000,
    "Requests a day of all callers without a key together",
  ),
  SEALOOP_LIMIT_UNKNOWN_KEYS: count(30, "Unknown keys and wrong tokens a minute of one address"),
  SEALOOP_LIMIT_TOOLS: count(60, "Requests a minute of a key on the tool server"),
  SEALOOP_LIMIT_STREAMS: count(10, "Open streams of the feed of a key, at each gateway"),
  SEALOOP_LIMIT_SIMULATE: count(10, "Simulations of attacks a minute of a key"),
  SEALOOP_LIMIT_HEARTBEATS: count(240, "Heartbeats a minute of a device"),
  SEALOOP_LIMIT_STATEMENTS: count(
    600,
    "Statements about commands that a device has sealed a minute",
  ),
  SEALOOP_ENVIRONMENT: z.string().regex(/^[a-z0-9-]{1,40}$/).default("production")
    .describe("What this platform is, as governance policies name it: production, staging, …"),
  SEALOOP_GOVERNANCE: z.string().min(1).optional()
    .describe("File of the governance policy; unset: sealoop.governance.yaml in the data folder"),
  SEALOOP_OPA_URL: safe(
    "Address of an Open Policy Agent: a second opinion about every call that changes something",
  ).optional(),
  SEALOOP_OPA_PATH: z.string().regex(/^[A-Za-z0-9_]+(\/[A-Za-z0-9_]+)*$/).default(
    "sealoop/decision",
  ).describe("… and the path of the decision in its data"),
  SEALOOP_SHIELD: z.string().min(1).optional()
    .describe(
      "File of the policies that devices are checked by; unset: sealoop.shield.yaml in the data folder",
    ),
  SEALOOP_PIPELINES: z.string().min(1).optional().describe(
    "File of the pipelines of deals; unset: sealoop.pipelines.yaml in the data folder, or the shipped ones",
  ),
  SEALOOP_PEERS: z.string().min(1).optional().describe(
    "File of the agents of other organizations; unset: sealoop.peers.yaml in the data folder",
  ),
  SEALOOP_SWEEP_SECONDS: z.coerce.number().int().min(5).max(86400).optional()
    .describe("Seconds between sweeps; unset: the schedule's own in temporal.yaml"),
  SEALOOP_TASK_QUEUES: z.string().regex(/^[a-z_]+(,[a-z_]+)*$/).optional()
    .describe(
      "Task queues of temporal.yaml that this worker takes, comma-separated; unset: all but the sequencer's",
    ),
  SEALOOP_WORKER_BUILD: z.string().regex(/^[A-Za-z0-9._-]{1,100}$/).optional()
    .describe(
      "Build of this worker in Temporal's worker versioning, as deployment sealoop; unset: it takes no part in that",
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
  SEALOOP_APPROVERS: z.coerce.number().int().min(1).max(10).default(1)
    .describe("How many different people must approve what the incident loop asks for"),
  SEALOOP_APPROVAL_EXPIRES_SECONDS: z.coerce.number().int().min(1).max(31_536_000).default(259_200)
    .describe("Seconds until an approval that nobody decides about expires"),
  SEALOOP_APPROVAL_ESCALATE_SECONDS: count(
    3_600,
    "Seconds without a decision until people are told of an approval once more; 0: they are not",
  ),
  SEALOOP_COMMS: z.string().min(1).optional().describe(
    "File of who is told what, and over which channels; unset: sealoop.comms.yaml in the data folder",
  ),
  SEALOOP_CREDENTIALS: z.string().default("{}").transform((text, ctx) => {
    const parsed = CREDENTIALS.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    ctx.addIssue("Expected a JSON object of texts"); // and never the value itself
    return z.NEVER;
  }).describe(
    "Credentials of channels and peers by name, as JSON; unset: files of these names in credentials/ of the data folder",
  ),
  SEALOOP_ADVISORIES: z.string().min(1).optional().describe(
    "File of advisories in the OSV form, that security scans hold the installed packages against",
  ),
  SEALOOP_DISCOVERY_ALLOW: z.string().regex(/^[0-9a-fA-F:.]+(\/\d+)?(,[0-9a-fA-F:.]+(\/\d+)?)*$/)
    .optional().transform((text) => text?.split(",") ?? [])
    .describe("Networks besides loopback in which hosts may be discovered, as 10.1.0.0/16,…"),
  SEALOOP_OUTBOUND_ALLOW: z.string().regex(/^[0-9a-fA-F:.]+(\/\d+)?(,[0-9a-fA-F:.]+(\/\d+)?)*$/)
    .optional().transform((text) => text?.split(",") ?? [])
    .describe(
      "Networks that are not public and yet may be reached at addresses that others name, as 10.1.0.0/16,…",
    ),
  SEALOOP_WEBHOOK_PAUSES: z.string().regex(/^\d{1,6}(,\d{1,6})*$/)
    .default("5,60,300,1800,3600,7200,14400,21600,36000").transform((text) =>
      text.split(",").map(Number)
    )
    .describe(
      "Seconds between the attempts to deliver to a webhook; after the last one it is given up",
    ),
  SEALOOP_MAIL_FROM: z.string().regex(/^[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,200}$/)
    .default("sealoop@sealoop.local").describe(
      "Address that the platform's mail comes from, and that replies go to",
    ),
  SEALOOP_MAIL_DOMAINS: z.string().regex(/^[a-z0-9.-]+(,[a-z0-9.-]+)*$/)
    .default("sealoop.local,localhost").transform((text) => text.split(","))
    .describe("Domains whose mail is delivered on this machine, to mail/ in the data folder"),
  SEALOOP_MAIL_PORT: port(2525, "Port of the receiver of this mail, on loopback alone"),
  SEALOOP_MAIL: z.string().min(1).optional().describe(
    "File of your rules of mail and sequences; unset: sealoop.mail.yaml in the data folder",
  ),
  SEALOOP_IMAP_URL: url(
    /^imaps?$/,
    "Mailbox that replies come to: imaps://user@host/INBOX, or imap:// (STARTTLS; none for loopback)",
  ),
  SEALOOP_IMAP_PASSWORD_FILE: z.string().min(1).optional().describe(
    "… and the file with the user's password, which nobody else can read",
  ),
  SEALOOP_SMTP_URL: url(
    /^smtps?$/,
    "Relay for all other mail: smtps://user@host (TLS), or smtp://user@host:587 (STARTTLS; none for loopback)",
  ),
  SEALOOP_SMTP_PASSWORD_FILE: z.string().min(1).optional().describe(
    "… and the file with the user's password, which nobody else can read",
  ),
  SEALOOP_SMTP_PAUSES: z.string().regex(/^\d{1,6}(,\d{1,6})*$/)
    .default("5,60,300,900,3600,14400,43200").transform((text) => text.split(",").map(Number))
    .describe(
      "Seconds between the attempts to send a mail, each only where the one before provably sent nothing",
    ),
  SEALOOP_EVIDENCE_DAYS: days(
    0,
    "Days that private evidence behind receipts is kept; receipts stay, and verify as before; 0: for ever",
  ),
  SEALOOP_EVIDENCE_ANONYMOUS_DAYS: days(
    30,
    "… of requests by callers without a key, where that is less; 0: as long as the others",
  ),
  SEALOOP_LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info")
    .describe("Least severe level that is logged"),
});

/** Checked settings, by the names of their environment variables. */
export type Settings = Readonly<z.output<typeof SETTINGS>>;
