/**
 * Holds loops in the middle of a step, from outside the platform: a probe gets no response, the command of a repair waits,
 * or a transaction blocks when it adds an event to the ticket.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

/** A point in a step: its probe, its command, or the event that it adds. */
export type Hold = "probe" | "command" | `event ${string}`;

/** Holds loops. */
export interface Holds {
  /** Returns the address of a proxy for a service's health check. */
  gate(service: string, health: string): string;
  /** Holds the loops of these services from now on. */
  set(holds: Readonly<Record<string, Hold>>): Promise<void>;
  /** Waits until so many loops are held at probes and in transactions. */
  held(probes: number, transactions: number): Promise<void>;
  /** Holds no further loop; those that are held stay so. */
  letOthersPass(): Promise<void>;
  /** Releases all held loops. */
  release(): Promise<void>;
  close(): Promise<void>;
}

/** Class of the advisory lock, which the platform does not use. */
const LOCK = 7_331;
const HELD_WITHIN_MS = 120_000;

const SCHEMA = `
  CREATE SCHEMA chaos;
  GRANT USAGE ON SCHEMA chaos TO PUBLIC;
  CREATE TABLE chaos.holds (service text PRIMARY KEY, kind text NOT NULL);
  GRANT SELECT ON chaos.holds TO PUBLIC;
  CREATE FUNCTION chaos.hold() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (
      SELECT FROM chaos.holds JOIN public.tickets USING (service)
      WHERE tickets.id = NEW.ticket_id AND holds.kind = NEW.kind
    ) THEN
      PERFORM pg_advisory_xact_lock_shared(${LOCK}, 0);
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER chaos_hold BEFORE INSERT ON ticket_events
    FOR EACH ROW EXECUTE FUNCTION chaos.hold();`;

const WAITING = `SELECT count(*)::int AS waiting FROM pg_locks
  WHERE locktype = 'advisory' AND classid = ${LOCK} AND NOT granted`;

/** Opens the holds. @param superuserUrl of the platform's database; its server may be killed at any time */
export async function openHolds(superuserUrl: string): Promise<Holds> {
  const gates = new Map<string, string>();
  const atProbe = new Set<string>();
  let waiting = 0;
  let go: () => void = () => {};
  let gone: Promise<void> = Promise.resolve();
  const server = createServer(async (req, res) => {
    const service = req.url!.slice(1);
    if (atProbe.has(service)) {
      waiting++;
      await gone;
    }
    const status = await fetch(gates.get(service)!, { headers: { connection: "close" } })
      .then((response) => response.status, () => 503);
    res.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  let client = await connect(superuserUrl);
  await client.query(SCHEMA);
  return {
    gate(service, health) {
      gates.set(service, health);
      return `http://127.0.0.1:${port}/${service}`;
    },
    async set(holds) {
      client = await alive(client, superuserUrl);
      await client.query(`SELECT pg_advisory_lock(${LOCK}, 0)`);
      gone = new Promise((resolve) => go = resolve);
      waiting = 0;
      for (const [service, hold] of Object.entries(holds)) {
        if (hold === "probe") atProbe.add(service);
        const [, kind] = /^event (.*)$/.exec(hold) ?? [];
        if (kind) await client.query("INSERT INTO chaos.holds VALUES ($1, $2)", [service, kind]);
      }
    },
    async held(probes, transactions) {
      const deadline = Date.now() + HELD_WITHIN_MS;
      while (true) {
        const { rows: [row] } = await client.query<{ waiting: number }>(WAITING);
        if (waiting >= probes && row!.waiting >= transactions) return;
        if (Date.now() > deadline) {
          throw new Error(`Only ${waiting} probes and ${row!.waiting} transactions are held`);
        }
        await sleep(10);
      }
    },
    async letOthersPass() {
      atProbe.clear();
      await client.query("DELETE FROM chaos.holds");
    },
    async release() {
      go();
      await client.query("SELECT pg_advisory_unlock_all()").catch(() => {}); // gone with its server
    },
    async close() {
      await client.end().catch(() => {});
      server.closeAllConnections();
      await new Promise<unknown>((resolve) => server.close(resolve));
    },
  };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {}); // its server was killed
  await client.connect();
  return client;
}

/** Returns the client, or a new one if its server was killed. */
async function alive(client: pg.Client, url: string): Promise<pg.Client> {
  try {
    await client.query("SELECT 1");
    return client;
  } catch {
    return await connect(url);
  }
}
