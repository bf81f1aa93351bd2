/**
 * The real servers that tests run against: one PostgreSQL and one Temporal a run, on free ports and with their own data.
 * They start when the first test needs them and stop after the last. If mocha runs files in parallel, its main process
 * starts them first, and its workers read their addresses from the environment.
 */
import { randomBytes, randomInt } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Connection } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import pg from "pg";
import { loadConfig } from "../config.ts";
import {
  claimDataFolder,
  createDatabase,
  type Postgres,
  startPostgres,
  startTemporal,
} from "../embedded/mod.ts";
import { migrate, openStore, type Role, ROLES } from "../store/mod.ts";

/** A new database with the platform's schema. */
export interface TestDatabase {
  readonly urls: Readonly<Record<Role, string>>;
  /** As superuser, for tests of tampering and of what the roles must not be able to do. */
  readonly superuserUrl: string;
  /** Closes all connections to it and removes it. */
  drop(): Promise<void>;
}

/** A new namespace with the platform's search attributes. */
export interface TestTemporal {
  readonly address: string;
  readonly namespace: string;
}

/** @see temporal.api.enums.v1.IndexedValueType */
const INDEXED_VALUE = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
  Bool: 5,
  Datetime: 6,
  KeywordList: 7,
} as const;

/** Settings of detectors that probe services only, so that no test depends on the machine that it runs on. */
export const TEST_DETECTORS: string = fileURLToPath(new URL("_detectors.yaml", import.meta.url));

const TEMPLATE = "sealoop_template";
/** Environment variable by which mocha's workers get their run. */
const RUN_VARIABLE = "MOCHA_SERVERS";
const running: { stop(): Promise<void> }[] = [];
const sharedRun: Run | undefined = process.env[RUN_VARIABLE] &&
  JSON.parse(process.env[RUN_VARIABLE]);
/** Number of this process among those of the run. */
const self = Number(process.env.MOCHA_WORKER_ID ?? 0);
/** Part of the names of the run's folders, by which they are removed at its end. */
const run: string = sharedRun?.id ?? randomBytes(4).toString("hex");
let count = 0;

/** The servers of a run, for all its processes. */
interface Run {
  readonly id: string;
  readonly postgres: TestPostgres;
  readonly temporal: string;
}

/** The PostgreSQL of a run. */
export type TestPostgres = Pick<Postgres, "version" | "port" | "urls" | "superuserUrl">;

/** Creates a migrated database; takes about 50 ms once the server runs. */
export async function testDatabase(): Promise<TestDatabase> {
  const server = await postgresWithTemplate();
  const name = `test_${self}_${++count}`;
  await asSuperuser(server, (client) => createDatabase(client, name, TEMPLATE));
  return {
    urls: urlsTo(server, name),
    superuserUrl: urlTo(server.superuserUrl, name),
    drop: () =>
      asSuperuser(server, async (client) => {
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      }),
  };
}

/** Opens a store as role `app` on a new database, with the configuration of an empty data folder. */
export async function testStore() {
  const database = await testDatabase();
  const store = openStore(database.urls.app, "app");
  return {
    database,
    store,
    config: loadConfig({ SEALOOP_DATA: await testFolder() }),
    async close() {
      await store.close();
      await database.drop();
    },
  };
}

/** Returns the PostgreSQL of this run, for tests of the server itself. */
export const testPostgres: () => Promise<TestPostgres> = once(async () => {
  if (sharedRun) return sharedRun.postgres;
  const folder = await testFolder();
  const tree = await claimDataFolder(folder);
  const server = await startPostgres(folder, await freePort(), tree);
  running.push({ stop: () => server.stop().then(tree.release) });
  return server;
});

/** Creates a namespace in the Temporal of this run. */
export async function testTemporal(): Promise<TestTemporal> {
  const address = await temporalAddress();
  const namespace = `test-${self}-${++count}`;
  await makeNamespace(address, namespace);
  return { address, namespace };
}

/** Creates an empty folder that is removed when the run ends. */
export async function testFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), `sealoop-test-${run}-`));
}

/**
 * Returns a TCP port of 127.0.0.1 that nobody listened on a moment ago and that no other test gets, in any process or
 * run. It is outside the ranges from which the system takes ports of outgoing connections and the platform its free
 * ports, so that neither takes it before it is used.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = claimedPorts.pop();
    if (port === undefined) claimedPorts.push(...await claimPorts());
    else if (await isFree(port)) return port;
  }
}

const PORT_RANGE = [10_000, 20_000] as const;
/** Ports are claimed in blocks of this size: the process that listens on the first owns the others. */
const BLOCK_SIZE = 50;
const claimedPorts: number[] = [];

async function claimPorts(): Promise<number[]> {
  const [from, to] = PORT_RANGE;
  for (let tries = 0; tries < 1_000; tries++) {
    const first = from + BLOCK_SIZE * randomInt((to - from) / BLOCK_SIZE);
    const claim = await listenOn(first);
    if (claim) {
      claim.unref(); // it is held until this process ends
      return Array.from({ length: BLOCK_SIZE - 1 }, (_, n) => first + 1 + n);
    }
  }
  throw new Error(`No ports are free between ${PORT_RANGE.join(" and ")}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = await listenOn(port);
  if (server) await new Promise((resolve) => server.close(resolve));
  return server !== undefined;
}

/** Listens on a port; returns undefined where somebody else does. */
function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(undefined))
      .listen(port, "127.0.0.1", () => resolve(server));
  });
}

/** Called by mocha in its main process before anything else. */
export async function mochaGlobalSetup(this: { isParallelMode(): boolean }): Promise<void> {
  if (!this.isParallelMode()) return;
  const [{ version, port, urls, superuserUrl }, temporal] = await Promise.all([
    postgresWithTemplate(),
    temporalAddress(),
  ]);
  const shared: Run = { id: run, postgres: { version, port, urls, superuserUrl }, temporal };
  process.env[RUN_VARIABLE] = JSON.stringify(shared);
}

/** Called by mocha in its main process when the run has ended, however it did. */
export async function mochaGlobalTeardown(): Promise<void> {
  await Promise.all(running.map((server) => server.stop()));
  const folders = (await readdir(tmpdir())).filter((name) =>
    name.startsWith(`sealoop-test-${run}-`)
  );
  // A child of a killed process may still write there; that is no failure of the tests.
  const options = { recursive: true, force: true, maxRetries: 10 };
  const left = (error: Error) => console.error(`  Left behind: ${error.message}`);
  await Promise.all(folders.map((folder) => rm(join(tmpdir(), folder), options).catch(left)));
}

const temporalAddress: () => Promise<string> = once(async () => {
  if (sharedRun) return sharedRun.temporal;
  const ports = { grpc: await freePort(), ui: await freePort() };
  const { temporal } = loadConfig({});
  const progress = (doing: string) => process.stderr.write(`  Temporal: ${doing}\n`);
  const folder = await testFolder();
  const tree = await claimDataFolder(folder);
  const server = await startTemporal(folder, ports, temporal, { progress, tree });
  running.push({ stop: () => server.stop().then(tree.release) });
  return server.address;
});

const postgresWithTemplate: () => Promise<TestPostgres> = once(async () => {
  const server = await testPostgres();
  if (sharedRun) return server;
  await asSuperuser(server, (client) => createDatabase(client, TEMPLATE));
  const store = openStore(urlTo(server.urls.owner, TEMPLATE), "owner");
  await migrate(store);
  await store.close();
  return server;
});

async function makeNamespace(address: string, namespace: string): Promise<void> {
  const { search_attributes } = loadConfig({}).temporal;
  const connection = await Connection.connect({ address });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs("1 day"),
    });
    const searchAttributes = Object.fromEntries(
      Object.entries(search_attributes).map(([name, type]) => [name, INDEXED_VALUE[type]]),
    );
    // The server knows a new namespace only a moment after it was registered.
    await eventually(() =>
      connection.operatorService.addSearchAttributes({ namespace, searchAttributes })
    );
  } finally {
    await connection.close();
  }
}

/** Retries for up to a minute. */
async function eventually<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 60_000;
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(25);
    }
  }
}

async function asSuperuser(
  { superuserUrl }: TestPostgres,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function urlsTo({ urls }: TestPostgres, database: string): Record<Role, string> {
  const roles = Object.keys(ROLES) as Role[];
  return Object.fromEntries(roles.map((role) => [role, urlTo(urls[role], database)])) as Record<
    Role,
    string
  >;
}

function urlTo(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: database }).href;
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => done ??= work();
}
