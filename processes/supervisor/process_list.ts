import type { Settings } from "../../config.ts";
import type { Role } from "../../store/mod.ts";
import { databaseSetting, directSetting, directUrl } from "../_database_setting.ts";

/** Environment variables of a process. */
export type Environment = Record<string, string>;

/** Connection strings by role. */
export type DatabaseUrls = Readonly<Record<Role, string>>;

/** A process of the platform: the rights and settings it gets. */
export interface ProcessEntry {
  /** Name of its program in `processes/`. */
  readonly name: string;
  /** Name for people. */
  readonly title: string;
  /** Database role that it logs in as. */
  readonly role: Role;
  readonly usesTemporal: boolean;
  /** Names of the settings that it gets. */
  readonly settings: RegExp;
}

const OURS = /^SEALOOP_/;
/** Those of OpenTelemetry besides, for the processes that make or export spans. */
const ALL = /^(SEALOOP|OTEL)_/;
const LEDGER_SETTINGS =
  /^SEALOOP_(DATA|BIND|TLS_\w+|METRICS\w*|TRUSTED_HOPS|LEDGER_\w+|GATEWAY_URL|DB_POOL|LOG_LEVEL)$/;

const SEQUENCER_SETTINGS =
  /^SEALOOP_(DATA|TLS_\w+|METRICS\w*|TEMPORAL_PORT|WORKER_BUILD|LEDGER_\w+|WITNESS\w+|DB_POOL|REQUIRE_SYNC|LOG_LEVEL)$/;

/** The processes of the platform, besides PostgreSQL and Temporal. */
export const PROCESSES: readonly ProcessEntry[] = [
  {
    name: "worker",
    title: "Worker",
    role: "worker",
    usesTemporal: true,
    settings: ALL,
  },
  {
    name: "sequencer",
    title: "Sequencer",
    role: "sequencer",
    usesTemporal: true,
    settings: SEQUENCER_SETTINGS,
  },
  { name: "engine", title: "Engine", role: "engine", usesTemporal: false, settings: OURS },
  {
    name: "gateway",
    title: "Gateway",
    role: "gateway",
    usesTemporal: true,
    settings: ALL,
  },
  {
    name: "mcp",
    title: "Tool server",
    role: "tools",
    usesTemporal: true,
    settings: ALL,
  },
  {
    name: "ledger",
    title: "Ledger",
    role: "ledger",
    usesTemporal: false,
    settings: LEDGER_SETTINGS,
  },
];

/** System variables that any process may need. */
const SYSTEM =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_\w+|XDG_CACHE_HOME|SSL_CERT_\w+|PIP_\w+|NODE_(OPTIONS|EXTRA_CA_CERTS)|(HTTPS?|NO)_PROXY)$/i;
const DATABASE = /^(DATABASE_URL$|DATABASE_DIRECT_URL$|SEALOOP_DATABASE_)/;

/** Returns whether Temporal's own settings name a server, so that none is to be started. */
export function usesOwnTemporal(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env.TEMPORAL_ADDRESS || env.TEMPORAL_CONFIG_FILE || env.TEMPORAL_PROFILE);
}

/** Returns Temporal's own settings. */
export function temporalEnvironment(env: NodeJS.ProcessEnv): Environment {
  return pick(env, /^TEMPORAL_/);
}

/** Returns the environment that a process loads with: settings, but no way into a database. */
export function initialEnvironment(
  { settings }: ProcessEntry,
  env: NodeJS.ProcessEnv,
): Environment {
  const chosen = pick(env, settings);
  for (const name of Object.keys(chosen)) if (DATABASE.test(name)) delete chosen[name];
  return { ...pick(env, SYSTEM), ...chosen };
}

/**
 * Returns the environment that a process gets when the servers run: its database role, and Temporal if it uses it.
 *
 * @param settings those of the tree, where the database is another's
 */
export function serverEnvironment(
  { role, usesTemporal }: ProcessEntry,
  urls: DatabaseUrls,
  temporalEnv: Environment,
  settings?: Settings,
): Environment {
  const direct = settings && directUrl(settings, role);
  return {
    [databaseSetting(role)]: urls[role],
    ...(direct === undefined ? {} : { [directSetting(role)]: direct }),
    ...(usesTemporal ? temporalEnv : {}),
  };
}

function pick(env: NodeJS.ProcessEnv, names: RegExp): Environment {
  const chosen = Object.entries(env).filter(([name, value]) => names.test(name) && value);
  return Object.fromEntries(chosen) as Environment;
}
