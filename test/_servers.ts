/**
 * The real servers that tests run against: one PostgreSQL and one Temporal per run, on free ports and with their own data.
 * They start when the first test needs them and stop after the last. When mocha runs files in parallel, its main process
 * starts them first, and its workers read their addresses from the environment.
 *
 * A test that imports this, directly or through other files, is a system test.
 */
import { setTimeout as sleep } from "node:timers/promises";
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
} from "../runtime/embedded/mod.ts";
import { ensureRecoveryKey, parseRecoveryKey } from "../ledger/mod.ts";
import { migrate, openStore, type Role, ROLES, type Store } from "../store/mod.ts";
import { atEndOfRun, freePort, serverFolder, testFolder, workerNumber } from "./_run.ts";

/** A new database with the platform's schema. */
export interface TestDatabase {
  readonly urls: Readonly<Record<Role, string>>;
  /** For tests of tampering, and of statements that the roles must not be able to execute. */
  readonly superuserUrl: string;
  /** Executes one statement as superuser. */
  executeAsSuperuser(statement: string): Promise<void>;
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

/** The private recovery key of the ledgers of all tests, as an operator would keep it. */
export const TEST_RECOVERY_KEY = "MC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB";
const TEMPLATE = "sealoop_template";
const LET_TESTS_SEAL = `INSERT INTO seal_categories
  SELECT role, category FROM unnest(ARRAY['sealoop_gateway', 'sealoop_tools', 'sealoop_worker', 'sealoop_engine']) AS role,
    unnest(ARRAY['test', 'chaos', 'bench']) AS category`;
/** Environment variable that tells mocha's workers about the servers of their run. */
const RUN_VARIABLE = "MOCHA_SERVERS";
const sharedRun: Run | undefined = process.env[RUN_VARIABLE] &&
  JSON.parse(process.env[RUN_VARIABLE]);
let count = 0;

/** The servers of a run, shared by all its processes. */
interface Run {
  readonly postgres: TestPostgres;
  readonly temporal: string;
}

/** The PostgreSQL of a run. */
export type TestPostgres = Pick<Postgres, "version" | "port" | "urls" | "superuserUrl">;

/**
 * Stores the recovery key of tests, and lets the processes of the platform request receipts of categories that only tests
 * use.
 *
 * @param owner of role `owner`
 */
export async function letTestsSeal(owner: Store): Promise<void> {
  await owner.asPlatform().execute(LET_TESTS_SEAL);
  const { publicKey } = parseRecoveryKey(TEST_RECOVERY_KEY);
  await ensureRecoveryKey(owner, { publicKey: publicKey.toString("hex"), show: () => {} });
}

/** Creates a database with the platform's schema, which takes about 50 ms once the server runs, and more on a disk. */
export async function testDatabase(): Promise<TestDatabase> {
  return await makeDatabase(await postgresWithTemplate(), TEMPLATE);
}

/** Creates a database that has no tables yet. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return await makeDatabase(await testPostgres());
}

async function makeDatabase(server: TestPostgres, template?: string): Promise<TestDatabase> {
  const name = `test_${workerNumber}_${++count}`;
  await asSuperuser(server, (client) => createDatabase(client, name, template));
  const superuserUrl = urlTo(server.superuserUrl, name);
  return {
    urls: urlsTo(server, name),
    superuserUrl,
    executeAsSuperuser: (statement) =>
      asSuperuser({ superuserUrl }, async (client) => {
        await client.query(statement);
      }),
    drop: () =>
      asSuperuser(server, async (client) => {
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      }),
  };
}

/** Opens a store on a new database, with the configuration of an empty data folder. */
export async function testStore(role: Role = "worker") {
  const database = await testDatabase();
  const store = openStore(database.urls[role], role);
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

const storesAs = new Map<string, Store>();

/** Returns a store as another role on the database of a store of this run. It need not be closed. */
export async function storeAs({ url }: Pick<Store, "url">, role: Role): Promise<Store> {
  const other = await urlAs({ url }, role);
  let store = storesAs.get(other);
  if (!store) storesAs.set(other, store = openStore(other, role, 2));
  return store;
}

/** Returns the connection string of another role to the database of a store of this run. */
export async function urlAs({ url }: Pick<Store, "url">, role: Role): Promise<string> {
  const { urls } = await testPostgres();
  return urlTo(urls[role], new URL(url).pathname);
}

/** Returns the PostgreSQL of this run. */
export const testPostgres: () => Promise<TestPostgres> = once(async () => {
  if (sharedRun) return sharedRun.postgres;
  const folder = await serverFolder();
  const tree = await claimDataFolder(folder);
  const server = await startPostgres(folder, await freePort(), tree);
  atEndOfRun(() => server.stop().then(tree.release));
  await asSuperuser(server, async (client) => { // its data need not outlive the machine
    await client.query("ALTER SYSTEM SET fsync = off");
    await client.query("ALTER SYSTEM SET full_page_writes = off");
    await client.query("ALTER SYSTEM SET max_wal_size = '256MB'");
    await client.query("SELECT pg_reload_conf()");
  });
  return server;
});

/** Returns the environment by which a process that this one starts uses the same PostgreSQL. */
export async function sharePostgres(): Promise<Readonly<Record<string, string>>> {
  const { version, port, urls, superuserUrl } = await testPostgres();
  return { [RUN_VARIABLE]: JSON.stringify({ postgres: { version, port, urls, superuserUrl } }) };
}

/** Creates a namespace in the Temporal of this run. */
export async function testTemporal(): Promise<TestTemporal> {
  const address = await temporalAddress();
  const namespace = `test-${workerNumber}-${++count}`;
  await makeNamespace(address, namespace);
  return { address, namespace };
}

/** Mocha calls this in its main process before the first test. */
export async function mochaGlobalSetup(this: { isParallelMode(): boolean }): Promise<void> {
  if (!this.isParallelMode() || process.env.TEST_SERVERS === "none") return;
  const [{ version, port, urls, superuserUrl }, temporal] = await Promise.all([
    postgresWithTemplate(),
    temporalAddress(),
  ]);
  const shared: Run = { postgres: { version, port, urls, superuserUrl }, temporal };
  process.env[RUN_VARIABLE] = JSON.stringify(shared);
}

const temporalAddress: () => Promise<string> = once(async () => {
  if (sharedRun) return sharedRun.temporal;
  const ports = { grpc: await freePort(), ui: await freePort() };
  const { temporal } = loadConfig({});
  const { embedded } = temporal;
  const sqlite = { journal_mode: "OFF", synchronous: "OFF" }; // its data need not outlive the machine
  const progress = (doing: string) => process.stderr.write(`  Temporal: ${doing}\n`);
  const folder = await serverFolder();
  const tree = await claimDataFolder(folder);
  const server = await startTemporal(folder, ports, {
    ...temporal,
    embedded: { ...embedded, sqlite },
  }, { progress, tree });
  atEndOfRun(() => server.stop().then(tree.release));
  return server.address;
});

const postgresWithTemplate: () => Promise<TestPostgres> = once(async () => {
  const server = await testPostgres();
  if (sharedRun) return server;
  await asSuperuser(server, (client) => createDatabase(client, TEMPLATE));
  const store = openStore(urlTo(server.urls.owner, TEMPLATE), "owner");
  await migrate(store);
  await letTestsSeal(store);
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
    // A new namespace can be used only a moment after its registration.
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
  { superuserUrl }: Pick<TestPostgres, "superuserUrl">,
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
