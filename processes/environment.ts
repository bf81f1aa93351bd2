import type { Role } from "../store/mod.ts";

/** Environment variables of a process. */
export type Environment = Record<string, string>;

/** Connection strings by role. */
export type Urls = Readonly<Partial<Record<Role, string>>>;

/**
 * A process of its own: who may connect to the database as whom, whether it talks to Temporal, and which settings it may
 * know.
 */
export interface Entry {
  readonly name: string;
  readonly title: string;
  readonly roles: readonly Role[];
  readonly temporal: boolean;
  /** Names of settings. */
  readonly knows: RegExp;
  /** Options of Node. */
  readonly node: readonly string[];
}

const ALL = /^SEALOOP_/;
/** All but the keys of models, which the engine alone asks. */
const NO_MODELS = /^SEALOOP_(?!(ANTHROPIC|OPENAI)_API_KEY$)/;
/** Settings that the public ledger reads; it is told of nothing else. */
const LEDGER_SETTINGS =
  /^SEALOOP_(DATA|BIND|TLS_\w+|TRUSTED_HOPS|LEDGER_\w+|GATEWAY_URL|LOG_LEVEL)$/;

/**
 * For processes of which somebody waits for each answer: Node's own code is put on large pages of memory, where the
 * system has such. An agent's call takes a tenth less of a processor's time then, and the process 10 MB more.
 */
const LARGE_PAGES = ["--use-largepages=silent"];

/** The processes of the platform, besides its servers. */
export const ENTRIES: readonly Entry[] = [
  {
    name: "worker",
    title: "Worker",
    roles: ["app", "sequencer"],
    temporal: true,
    knows: NO_MODELS,
    node: [],
  },
  { name: "engine", title: "Engine", roles: ["app"], temporal: false, knows: ALL, node: [] },
  {
    name: "gateway",
    title: "Gateway",
    roles: ["app"],
    temporal: true,
    knows: NO_MODELS,
    node: LARGE_PAGES,
  },
  {
    name: "mcp",
    title: "Tool server",
    roles: ["app"],
    temporal: true,
    knows: NO_MODELS,
    node: LARGE_PAGES,
  },
  {
    name: "ledger",
    title: "Ledger",
    roles: ["ledger"],
    temporal: false,
    knows: LEDGER_SETTINGS,
    node: [],
  },
];

/** Variables of the system that any process may need. */
const COMMON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_\w+|XDG_CACHE_HOME|SSL_CERT_\w+|NODE_(OPTIONS|EXTRA_CA_CERTS|COMPILE_CACHE)|(HTTPS?|NO)_PROXY)$/i;
const DATABASE = /^(DATABASE_URL$|SEALOOP_DATABASE_)/;

/** Whether Temporal's own settings name a server, so that none is to be started. */
export function usesOwnTemporal(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env.TEMPORAL_ADDRESS || env.TEMPORAL_CONFIG_FILE || env.TEMPORAL_PROFILE);
}

/** Temporal's own settings. */
export function temporalEnvironment(env: NodeJS.ProcessEnv): Environment {
  return pick(env, /^TEMPORAL_/);
}

/** What a process may know from its start: settings, but no way into a database. */
export function baseEnvironment({ knows }: Entry, env: NodeJS.ProcessEnv): Environment {
  const settings = pick(env, knows);
  for (const name of Object.keys(settings)) if (DATABASE.test(name)) delete settings[name];
  return { ...pick(env, COMMON), ...settings };
}

/** What a process is told when the servers are there: its own roles, and Temporal if it talks to it. */
export function grants(
  { roles, temporal }: Entry,
  urls: Urls,
  temporalEnv: Environment,
): Environment {
  const databases = roles.map((
    role,
  ) => [`SEALOOP_DATABASE_${role.toUpperCase()}_URL`, urls[role]!]);
  return { ...Object.fromEntries(databases), ...(temporal ? temporalEnv : {}) };
}

function pick(env: NodeJS.ProcessEnv, names: RegExp): Environment {
  const chosen = Object.entries(env).filter(([name, value]) => names.test(name) && value);
  return Object.fromEntries(chosen) as Environment;
}
