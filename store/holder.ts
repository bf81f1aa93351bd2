import { randomInt } from "node:crypto";
import pg from "pg";
import { connectionOptions, type Db, type Store } from "./connection.ts";

/** First half of the advisory locks that prove that a process lives. */
export const HOLDER_LOCK = 736_561;

/** A lock that proves to other processes that this one lives. */
export interface Holder {
  /** Returns the number of the lock, 1 to 2³¹ − 1. It is held as long as the process and its connection live. */
  number(): Promise<number>;
}

/**
 * Takes a lock on a connection of its own, which keeps no program from ending.
 *
 * If the connection is lost, the next call takes another lock. Work begun under the first may then be taken for
 * abandoned while it still runs; work of a dead process is never taken for running.
 */
export function openHolder(store: Store): Holder {
  let held: { readonly number: Promise<number> } | undefined;
  function hold(): { readonly number: Promise<number> } {
    const client = new pg.Client(connectionOptions(store.url, store.role));
    const lost = () => {
      if (held === mine) held = undefined;
    };
    client.on("error", lost).on("end", lost);
    const mine = { number: lock(client) };
    mine.number.catch(lost);
    return mine;
  }
  return { number: () => (held ??= hold()).number };
}

async function lock(client: pg.Client): Promise<number> {
  const number = randomInt(1, 2 ** 31 - 1);
  await client.connect();
  await client.query("SELECT pg_advisory_lock($1, $2)", [HOLDER_LOCK, number]);
  (client as pg.Client & { unref(): void }).unref(); // missing in the types
  return number;
}

/** Returns true where the process that took this lock lives. */
export async function isHolderAlive(db: Db, number: number): Promise<boolean> {
  const row = await db.first(
    `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND classid = $1 AND objid = $2::bigint::oid`,
    [HOLDER_LOCK, number],
  );
  return row !== undefined;
}
