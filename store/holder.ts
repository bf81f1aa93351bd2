import { randomInt } from "node:crypto";
import pg from "pg";
import { connectionOptions, type Queryable, type Store } from "./connection.ts";

/** First half of the locks by which processes show that they live. */
export const HOLDER_LOCK = 736_561;

/** Shows to others that this process lives. */
export interface Holder {
  /** Number of the lock that is held as long as the process and its connection live, 1 to 2³¹ − 1. */
  number(): Promise<number>;
}

/**
 * Holds a lock on a connection of its own, which keeps no program from ending. Where the connection is lost another one
 * takes another lock, so that what was begun under the first may be taken for abandoned, never the other way round.
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
  (client as pg.Client & { unref(): void }).unref(); // the types don't know it
  return number;
}

/** Whether the process lives that holds such a lock. */
export async function isHolderAlive(on: Queryable, number: number): Promise<boolean> {
  const { rows } = await on.raw(
    `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND classid = ? AND objid = ?::bigint::oid`,
    [HOLDER_LOCK, number],
  );
  return rows.length > 0;
}
