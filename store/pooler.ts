import pg from "pg";
import { withTimeout } from "../contract/mod.ts";
import type { Store } from "./connection.ts";

/** A pooler between this process and PostgreSQL that can't be used like this. The message says what would work. */
export class UnusablePooler extends Error {
  override readonly name = "UnusablePooler";
}

/** A pooler between a client and PostgreSQL, by what becomes of a client's session between two transactions. */
type Pooling =
  | "none"
  | "session"
  /** By transaction; prepared statements follow their client. */
  | "transaction"
  /** By transaction, and prepared statements stay on the server connection: PgBouncer before 1.21. */
  | "transaction, without prepared statements"
  /** By statement: no transactions. */
  | "statement";

const ATTEMPTS = 8;
const TIMEOUT_MS = 20_000;
/** PostgreSQL's codes of a prepared statement that another client has left, or taken along. */
const MISPLACED = new Set(["42P05", "26000"]);
const STATEMENT = { name: "sealoop_pooler", text: "SELECT pg_backend_pid() AS pid" };

/**
 * Checks that a pooler on the way to the database, where there is one, keeps what this process relies on: transactions and
 * prepared statements on all connections, and sessions on those for locks and notifications.
 *
 * @param directSetting name of the setting that leads around the pooler
 * @throws {UnusablePooler}
 */
export async function requirePooler(
  { url, directUrl }: Pick<Store, "url" | "directUrl">,
  directSetting: string,
): Promise<void> {
  const pooling = await withTimeout(TIMEOUT_MS, detectPooling(url));
  if (pooling === "statement" || pooling === "transaction, without prepared statements") {
    throw new UnusablePooler(
      `Cannot use ${await describePooler(
        url,
      )}, which pools by ${pooling}: use PgBouncer 1.21 or newer with ` +
        "max_prepared_statements above 0, or pool_mode = session",
    );
  }
  const direct = url === directUrl
    ? pooling
    : await withTimeout(TIMEOUT_MS, detectPooling(directUrl));
  if (direct === "none" || direct === "session") return;
  throw new UnusablePooler(
    `Cannot take locks and hear of notifications through ${await describePooler(
      directUrl,
    )}, which pools by ` +
      `${direct}: set ${directSetting} to the address of PostgreSQL itself, or of a pooler by session`,
  );
}

async function detectPooling(url: string): Promise<Pooling> {
  const first = await connect(url);
  const second = await connect(url).catch(async (error) => {
    await first.end();
    throw error;
  });
  try {
    if (await getServer(first) === first.processID) return "none";
    return await detectMode(first, second);
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (MISPLACED.has(code)) return "transaction, without prepared statements";
    throw error;
  } finally {
    await Promise.allSettled([first.end(), second.end()]);
  }
}

/** Looks whether two clients, who are both connected, are given the same server connection one after the other. */
async function detectMode(first: Client, second: Client): Promise<Pooling> {
  const servers = new Set<number>();
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    servers.add(await getServer(first));
    try {
      await second.query("BEGIN");
      const isShared = servers.size > 1 || servers.has(await getServer(second));
      if (isShared) return await keepsStatements(second);
    } catch (error) {
      if (/statement pooling/.test((error as Error).message)) return "statement";
      throw error;
    } finally {
      await second.query("ROLLBACK").catch(() => {});
    }
  }
  return "session";
}

/** A pooler that lets prepared statements follow their client gives them names of its own. */
async function keepsStatements(client: Client): Promise<Pooling> {
  const { rows } = await client.query("SELECT FROM pg_prepared_statements WHERE name = $1", [
    STATEMENT.name,
  ]);
  return rows.length > 0 ? "transaction, without prepared statements" : "transaction";
}

/** `pg.Client` with the number that the server names itself by when it is connected to, which its types leave out. */
type Client = pg.Client & { readonly processID: number };

async function connect(url: string): Promise<Client> {
  const client = new pg.Client({ connectionString: url, application_name: "sealoop-start" });
  client.on("error", () => {}); // the next statement reports it
  await client.connect();
  return client as Client;
}

/** Returns the number of the server process that runs a client's statement. A pooler names itself by another. */
async function getServer(client: Client): Promise<number> {
  const { rows: [row] } = await client.query<{ pid: number }>(STATEMENT);
  return row!.pid;
}

/** Returns the name of the pooler, with its version where its console tells this login. */
async function describePooler(url: string): Promise<string> {
  const console = new URL(url);
  console.pathname = "/pgbouncer";
  const client = new pg.Client({ connectionString: console.href });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows: [row] } = await client.query("SHOW VERSION");
    return String(row.version);
  } catch {
    return "this pooler (PgBouncer before 1.21?)";
  } finally {
    await client.end().catch(() => {});
  }
}
