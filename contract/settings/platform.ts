import { z } from "zod";
import { PlaceName } from "../domain/mod.ts";
import { count, flag, hosts, port, postgres, secret, url } from "./_kinds.ts";

/** Where the platform keeps its state, where its processes listen, and how they reach each other. */
export const PLATFORM_SETTINGS = {
  SEALOOP_DATA: z.string().min(1).default(".data")
    .describe("Folder of all state; relative to the project"),
  SEALOOP_ENVIRONMENT: z.string().regex(/^[a-z0-9-]{1,40}$/).default("production")
    .describe("What this platform is, as governance policies name it: production, staging, …"),
  SEALOOP_BIND: z.string().min(1).default("127.0.0.1")
    .describe("Address that the three servers listen on; other than loopback needs TLS"),
  SEALOOP_TLS_CERT: z.string().optional().describe("PEM file of the certificate chain"),
  SEALOOP_TLS_KEY: z.string().optional().describe("PEM file of the certificate's key"),
  SEALOOP_TLS_PROXY: flag("true: a proxy in front of the servers ends TLS"),
  SEALOOP_TRUSTED_HOPS: count(0, "Proxies in front whose X-Forwarded-For entries are believed"),
  SEALOOP_HOSTS: hosts(
    "Further host names by which clients reach the servers, besides loopback's and those of the public addresses: a,b,…",
  ),
  SEALOOP_DRAIN_SECONDS: z.coerce.number().int().min(0).max(600).default(0).describe(
    "Seconds for which a process still works after SIGTERM while /readyz says that it is about to end, so that callers are sent elsewhere first; not under npm start",
  ),
  SEALOOP_GATEWAY_PORT: port(8080, "Port of the REST gateway"),
  SEALOOP_GATEWAY_URL: url(/^https?$/, "Public address of the gateway; unset: where it listens"),
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
  SEALOOP_LEDGER_URL: url(
    /^https?$/,
    "Public address of the ledger, for verify_url; unset: where it listens",
  ),
  SEALOOP_ENGINE_PORT: port(
    8083,
    "Port of the incident engine, which only the other processes ask",
  ),
  SEALOOP_ENGINE_URL: url(
    /^https?$/,
    "Address of an engine that runs elsewhere; unset: npm start runs one, on SEALOOP_ENGINE_PORT",
  ),
  SEALOOP_ENGINE_SECRET: z.string().min(32).optional().describe(
    "What the engine and those who ask it both know, at least 32 characters; unset: made in the data folder",
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
  DATABASE_DIRECT_URL: postgres(
    "Where DATABASE_URL leads through a pooler by transaction: the database without it, for what holds a session, here the lock of migrations",
  ),
  SEALOOP_DATABASE_GATEWAY_DIRECT_URL: postgres("… as the gateway's role, for LISTEN and locks"),
  SEALOOP_DATABASE_TOOLS_DIRECT_URL: postgres("… as the tool server's"),
  SEALOOP_DATABASE_WORKER_DIRECT_URL: postgres("… as the worker's"),
  SEALOOP_DATABASE_ENGINE_DIRECT_URL: postgres("… as the engine's"),
  SEALOOP_DATABASE_SEQUENCER_DIRECT_URL: postgres("… as the sequencer's, for sealing itself"),
  SEALOOP_DATABASE_LEDGER_DIRECT_URL: postgres("… as the public ledger's"),
  SEALOOP_DATABASE_OPERATOR_DIRECT_URL: postgres("… as the one of the operator's commands"),
  SEALOOP_DB_POOL: z.coerce.number().int().min(3).max(200).default(8).describe(
    "Most database connections of a process, besides the one for LISTEN and locks; 3 to 200",
  ),
  SEALOOP_DATABASE_BACKUP_URL: postgres(
    "… as a role that sees all rows (a superuser, or BYPASSRLS), for npm run backup and npm run restore alone",
  ),
  SEALOOP_TASK_QUEUES: z.string().regex(/^[a-z_]+(,[a-z_]+)*$/).optional()
    .describe(
      "Task queues of temporal.yaml that this worker takes, comma-separated; unset: all but the sequencer's",
    ),
  SEALOOP_PLACE: PlaceName.optional().describe(
    "Name of the machine on which this worker acts, which its workers share; unset: the host's name",
  ),
  SEALOOP_CONFIG_PLACE: PlaceName.optional().describe(
    "Place whose settings files are put in force when they change; unset: each file's first place, until npm run config -- put",
  ),
  SEALOOP_PLACE_AWAY_SECONDS: z.coerce.number().int().min(10).max(3_600).default(60).describe(
    "Seconds without a worker after which a place counts as away, and its incidents go to people",
  ),
  SEALOOP_WORKER_BUILD: z.string().regex(/^[A-Za-z0-9._-]{1,100}$/).optional()
    .describe(
      "Build of this worker in Temporal's worker versioning, as deployment sealoop; unset: it takes no part in that",
    ),
  SEALOOP_LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info")
    .describe("Least severe level that is logged"),
};
