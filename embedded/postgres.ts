import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type Role, ROLES } from "../store/mod.ts";
import { EmbeddedError } from "./_errors.ts";
import { launch, type Launched } from "./_launch.ts";
import { type PostgresBinaries, postgresBinaries } from "./_postgres_binaries.ts";
import {
  clearLeftovers,
  create,
  ERROR_LINE,
  type Passwords,
  passwordsOf,
  serverEnvironment,
  STOP_MS,
  SUPERUSER,
} from "./_postgres_data.ts";
import type { ProcessId } from "./_process_id.ts";
import { findServerUser, type ServerUser } from "./_server_user.ts";
import type { Tree } from "./tree.ts";

/** A running embedded PostgreSQL. */
export interface Postgres {
  /** Of the server: `18.4`. */
  readonly version: string;
  readonly port: number;
  /** Connection string of each role to the database `sealoop`. */
  readonly urls: Readonly<Record<Role, string>>;
  /** Connection string of the superuser to the database `postgres`; given to no other process. */
  readonly superuserUrl: string;
  readonly process: ProcessId;
  /** Settles when the server has ended, whether asked to or not, with the telling line of its log. */
  readonly ended: Promise<string>;
  /** Ends all connections, writes everything down, ends. At most three seconds. */
  stop(): Promise<void>;
}

const DATABASE = "sealoop";
const START_MS = 60_000;
// fsync, full_page_writes and synchronous_commit stay as they are: on.
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
 * Starts the PostgreSQL of a data folder, making it first where there is none.
 *
 * A server that a killed parent left running on the same data is stopped before.
 *
 * @param dataDir existing folder of all state; the server's part is `postgres` in it, its passwords `postgres.json`
 * @param port TCP port on 127.0.0.1, free
 * @param tree that the server becomes part of, as the last to be stopped
 * @throws {EmbeddedError} it can't start, with the reason that the server gave
 */
export async function startPostgres(
  dataDir: string,
  port: number,
  tree?: Tree,
): Promise<Postgres> {
  const binaries = postgresBinaries();
  const data = join(dataDir, "postgres");
  const user = findServerUser(binaries.postgres, dataDir, data);
  const passwords = passwordsOf(dataDir, existsSync(data));
  if (existsSync(data)) await clearLeftovers(data);
  else await create(dataDir, data, binaries, user, passwords.superuser);

  const server = await startServer(dataDir, data, port, binaries, user, tree);
  const superuserUrl = address(port, SUPERUSER, passwords.superuser, "postgres");
  try {
    const version = await prepare(superuserUrl, passwords);
    const roles = Object.keys(ROLES) as Role[];
    const urls = Object.fromEntries(
      roles.map((role) => [role, address(port, ROLES[role], passwords[role], DATABASE)]),
    ) as Record<Role, string>;
    return { version, port, urls, superuserUrl, ...server };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const address = (port: number, name: string, password: string, database: string) =>
  `postgres://${name}:${password}@127.0.0.1:${port}/${database}`;

/**
 * How a role reaches the database of a data folder that another process runs.
 *
 * @param dataDir folder of all state
 * @param port TCP port on 127.0.0.1
 * @returns undefined where the folder has no database
 */
export function databaseUrl(dataDir: string, port: number, role: Role): string | undefined {
  if (!existsSync(join(dataDir, "postgres.json"))) return undefined;
  return address(port, ROLES[role], passwordsOf(dataDir, true)[role], DATABASE);
}

/**
 * Makes a database that the owner's role owns and the other roles may connect to.
 *
 * @param client connected as superuser
 * @param name of the new database, a plain identifier
 * @param template database to copy, to which nobody is connected
 */
export async function createDatabase(
  client: pg.ClientBase,
  name: string,
  template = "template1",
): Promise<void> {
  const [database, copied] = [name, template].map((n) => client.escapeIdentifier(n));
  const { owner, ...others } = ROLES;
  await client.query(`CREATE DATABASE ${database} OWNER ${owner} TEMPLATE ${copied}`);
  await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`);
  await client.query(
    `GRANT CONNECT ON DATABASE ${database} TO ${Object.values(others).join(", ")}`,
  );
}

async function startServer(
  dataDir: string,
  data: string,
  port: number,
  binaries: PostgresBinaries,
  user: ServerUser,
  tree: Tree | undefined,
): Promise<Launched> {
  const settings = Object.entries({ ...SERVER_SETTINGS, port: String(port) })
    .flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const [program, args, options] = user.command([binaries.postgres, "-D", data, ...settings]);
  const server = await launch(dataDir, tree, {
    ...{ name: "PostgreSQL", logName: "postgres", errorLine: ERROR_LINE, program, args },
    options: { ...options, env: serverEnvironment() },
    ...{ signal: "SIGINT", stopMs: STOP_MS, rank: 3 },
  });
  try {
    await ready(data, server.ended);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/** Waits for the server to say in its pid file that it takes connections, as `pg_ctl` does. */
async function ready(data: string, ended: Promise<string>): Promise<void> {
  let reason: string | undefined;
  ended.then((line) => reason = line);
  const deadline = Date.now() + START_MS;
  while (!isReady(join(data, "postmaster.pid"))) {
    if (reason !== undefined) throw new EmbeddedError(`PostgreSQL could not start: ${reason}`);
    if (Date.now() > deadline) {
      throw new EmbeddedError(`PostgreSQL took longer than ${START_MS / 1000} s to start`);
    }
    await sleep(10);
  }
}

function isReady(pidFile: string): boolean {
  try {
    return readFileSync(pidFile, "utf8").split("\n")[7]?.trim() === "ready";
  } catch {
    return false;
  }
}

/** Makes the roles and the database, where they are not there yet. */
async function prepare(superuserUrl: string, passwords: Passwords): Promise<string> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const { rows: [found] } = await client.query<Found>(
      `SELECT current_setting('server_version') AS version,
              ARRAY(SELECT rolname::text FROM pg_roles) AS roles,
              EXISTS (SELECT FROM pg_database WHERE datname = $1) AS database`,
      [DATABASE],
    );
    for (const [role, name] of Object.entries(ROLES) as [Role, string][]) {
      if (found!.roles.includes(name)) continue;
      const password = client.escapeLiteral(passwords[role]);
      await client.query(`CREATE ROLE ${name} LOGIN PASSWORD ${password}`);
    }
    if (!found!.database) await createDatabase(client, DATABASE);
    return found!.version.split(" ", 1)[0]!;
  } finally {
    await client.end();
  }
}

interface Found {
  version: string;
  roles: string[];
  database: boolean;
}
