import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import {
  createDatabaseSql,
  createRolesSql,
  FUNCTION_OWNERS,
  type Role,
  ROLES,
} from "../../store/mod.ts";
import { EmbeddedError } from "./_errors.ts";
import { type RunningServer, startServerProcess } from "./_launch.ts";
import { findPostgres, type PostgresBinaries } from "./_postgres_binaries.ts";
import {
  clearLeftovers,
  createData,
  ERROR_LINE,
  loadPasswords,
  type Passwords,
  serverEnvironment,
  STOP_TIMEOUT_MS,
  SUPERUSER,
} from "./_postgres_data.ts";
import { findServerUser, type ServerUser } from "./_server_user.ts";
import type { ProcessId } from "./process_id.ts";
import type { Tree } from "./tree.ts";

/** A running embedded PostgreSQL. */
export interface Postgres {
  /** Version of the server, such as `18.4`. */
  readonly version: string;
  readonly port: number;
  /** Connection string of each role to the database `sealoop`. */
  readonly urls: Readonly<Record<Role, string>>;
  /** Connection string of the superuser to the database `postgres`. No other process gets it. */
  readonly superuserUrl: string;
  readonly process: ProcessId;
  /** Resolves when the server has ended, asked to or not, with the line of its log that says why. */
  readonly ended: Promise<string>;
  /** Closes all connections, saves everything and ends. Takes three seconds at most. */
  stop(): Promise<void>;
}

const DATABASE = "sealoop";
const ROLE_NAMES = [...Object.values(ROLES), ...Object.values(FUNCTION_OWNERS)];
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 10;
/** fsync, full_page_writes and synchronous_commit keep their default: on. */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "128MB",
  wal_buffers: "16MB",
  max_wal_size: "2GB",
  checkpoint_timeout: "15min",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  update_process_title: "off",
};

/**
 * Starts the PostgreSQL of a data folder. Creates its data where there is none, and stops a server that a killed process left
 * running on the same data.
 *
 * @param dataDir existing folder of all state; the server's data is `postgres` in it, its passwords `postgres.json`
 * @param port TCP port on 127.0.0.1, free
 * @param tree that the server becomes part of; it is stopped last
 * @throws {EmbeddedError} it can't start, with its reason
 */
export async function startPostgres(
  dataDir: string,
  port: number,
  tree?: Tree,
): Promise<Postgres> {
  const binaries = findPostgres();
  const data = join(dataDir, "postgres");
  const user = findServerUser(binaries.postgres, dataDir, data);
  const passwords = loadPasswords(dataDir, existsSync(data));
  if (existsSync(data)) await clearLeftovers(data);
  else await createData(dataDir, data, binaries, user, passwords.superuser);

  const server = await startServer(dataDir, data, port, binaries, user, tree);
  const superuserUrl = connectionUrl(port, SUPERUSER, passwords.superuser, "postgres");
  try {
    const version = await prepare(superuserUrl, passwords);
    const roles = Object.keys(ROLES) as Role[];
    const urls = Object.fromEntries(
      roles.map((role) => [role, connectionUrl(port, ROLES[role], passwords[role], DATABASE)]),
    ) as Record<Role, string>;
    return { version, port, urls, superuserUrl, ...server };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function connectionUrl(port: number, name: string, password: string, database: string): string {
  return `postgres://${name}:${password}@127.0.0.1:${port}/${database}`;
}

/**
 * Returns the connection string of a role to the database of a data folder that another process runs.
 *
 * @param dataDir folder of all state
 * @param port TCP port on 127.0.0.1
 * @returns undefined where the folder has no database
 */
export function databaseUrl(dataDir: string, port: number, role: Role): string | undefined {
  if (!existsSync(join(dataDir, "postgres.json"))) return undefined;
  return connectionUrl(port, ROLES[role], loadPasswords(dataDir, true)[role], DATABASE);
}

/** Returns the connection string of the superuser to the platform's database, or undefined where the folder has none. */
export function superuserUrl(dataDir: string, port: number): string | undefined {
  if (!existsSync(join(dataDir, "postgres.json"))) return undefined;
  return connectionUrl(port, SUPERUSER, loadPasswords(dataDir, true).superuser, DATABASE);
}

/**
 * Creates a database that belongs to the owner's role and that the other roles may connect to.
 *
 * @param client connected as superuser
 * @param name of the new database, a plain identifier
 * @param template database to copy; nobody may be connected to it
 */
export async function createDatabase(
  client: pg.ClientBase,
  name: string,
  template = "template1",
): Promise<void> {
  const [database, copied] = [name, template].map((n) => client.escapeIdentifier(n));
  for (const statement of createDatabaseSql(database!, copied)) await client.query(statement);
}

async function startServer(
  dataDir: string,
  data: string,
  port: number,
  binaries: PostgresBinaries,
  user: ServerUser,
  tree: Tree | undefined,
): Promise<RunningServer> {
  const settings = Object.entries({ ...SERVER_SETTINGS, port: String(port) })
    .flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const [program, args, options] = user.command([binaries.postgres, "-D", data, ...settings]);
  const server = await startServerProcess(dataDir, tree, {
    name: "PostgreSQL",
    logName: "postgres",
    errorLine: ERROR_LINE,
    program,
    args,
    options: { ...options, env: serverEnvironment() },
    signal: "SIGINT",
    stopTimeoutMs: STOP_TIMEOUT_MS,
    rank: 3,
  });
  try {
    await waitUntilReady(data, server.ended);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/** Waits until the server's pid file says that it accepts connections, as `pg_ctl` does. */
async function waitUntilReady(data: string, ended: Promise<string>): Promise<void> {
  let reason: string | undefined;
  ended.then((line) => reason = line);
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!isReady(join(data, "postmaster.pid"))) {
    if (reason !== undefined) throw new EmbeddedError(`PostgreSQL could not start: ${reason}`);
    if (Date.now() > deadline) {
      throw new EmbeddedError(`PostgreSQL took longer than ${START_TIMEOUT_MS / 1000} s to start`);
    }
    await sleep(POLL_MS);
  }
}

function isReady(pidFile: string): boolean {
  try {
    return readFileSync(pidFile, "utf8").split("\n")[7]?.trim() === "ready";
  } catch {
    return false;
  }
}

/** Creates the roles, and the database where it is missing. @returns the server's version */
async function prepare(superuserUrl: string, passwords: Passwords): Promise<string> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const { rows: [state] } = await client.query<ServerState>(
      `SELECT current_setting('server_version') AS version,
              (SELECT count(*)::int FROM pg_roles WHERE rolname = ANY ($2)) AS roles,
              EXISTS (SELECT FROM pg_database WHERE datname = $1) AS database`,
      [DATABASE, ROLE_NAMES],
    );
    if (state!.roles < ROLE_NAMES.length) await client.query(createRolesSql(passwords));
    if (!state!.database) await createDatabase(client, DATABASE);
    return state!.version.split(" ", 1)[0]!;
  } finally {
    await client.end();
  }
}

/** State of a server, as {@linkcode prepare} queries it. */
interface ServerState {
  version: string;
  /** Number of the platform's roles that exist. */
  roles: number;
  database: boolean;
}
