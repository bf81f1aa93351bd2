import { setTimeout as sleep } from "node:timers/promises";
import { freePort, testFolder } from "../test/_run.ts";
import { testDatabase } from "../test/_servers.ts";
import { fillLedger } from "./_fill_ledger.ts";
import { type Server, startServer } from "./_servers.ts";

/** A public ledger in a process of its own, on a database of its own. */
export interface LedgerServer {
  /** The server of the present start. */
  readonly server: Server;
  /** Ids of its receipts. */
  readonly ids: readonly string[];
  /** Waits until the server has verified all receipts. */
  waitUntilVerified(): Promise<void>;
  /** Starts the server again, with what it has stored, and waits until all is verified. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const POLL_MS = 250;

/** Opens a ledger with so many receipts. */
export async function openLedger(count: number): Promise<LedgerServer> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const ids = await fillLedger(database, count);
  let server = await start();

  async function start(): Promise<Server> {
    return await startServer("processes/ledger.ts", [], {
      SEALOOP_DATA: folder,
      SEALOOP_DATABASE_LEDGER_URL: database.urls.ledger,
      SEALOOP_LEDGER_PORT: String(await freePort()),
    });
  }

  async function waitUntilVerified(): Promise<void> {
    while (true) {
      const response = await fetch(`${server.address}/api/chain`);
      const { verified_through } = await response.json() as { verified_through: number };
      if (verified_through === count - 1) return;
      await sleep(POLL_MS);
    }
  }

  return {
    get server() {
      return server;
    },
    ids,
    waitUntilVerified,
    async restart() {
      await server.stop();
      server = await start();
      await waitUntilVerified();
    },
    async close() {
      await server.stop();
      await database.drop();
    },
  };
}
