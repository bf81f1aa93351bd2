import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db, Store } from "./connection.ts";
import type { SessionConnection, SessionUse } from "./session.ts";

/** First half of the advisory locks that prove that a process lives. */
export const HOLDER_LOCK = 736_561;

/** A lock that proves to other processes that this one lives. */
export interface Holder {
  /** Returns the number of the lock, 1 to 2³¹ − 1. It is held as long as the process and its connection live. */
  number(): Promise<number>;
}

/** Milliseconds between attempts to take the lock again. */
const RETRY_MS = 250;
/** Milliseconds after which a lock that is gone is looked for again: several times what a living process needs. */
const RETURN_MS = 1_000;

/**
 * Takes a lock on the store's connection for what outlives a statement.
 *
 * If the connection is lost, the same lock is taken again as soon as the database can be reached, until the store is
 * closed.
 */
export function openHolder({ session }: Pick<Store, "session">): Holder {
  const number = randomInt(1, 2 ** 31 - 1);

  async function take(connection: SessionConnection): Promise<void> {
    const [row] = await connection.query("SELECT pg_try_advisory_lock($1, $2) AS taken", [
      HOLDER_LOCK,
      number,
    ]);
    // The server may take the lost connection for alive for a while: then that one holds the lock, and this one waits.
    if (!row.taken) setTimeout(() => void take(connection).catch(() => {}), RETRY_MS).unref();
  }

  const use: SessionUse = { begin: take, lost: () => {} };
  return {
    async number() {
      await session.join(use);
      return number;
    },
  };
}

async function isHolderAlive(db: Db, number: number): Promise<boolean> {
  const row = await db.first(
    `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND classid = $1 AND objid = $2::bigint::oid`,
    [HOLDER_LOCK, number],
  );
  return row !== undefined;
}

/**
 * Returns true where the process that took this lock is gone. Looks twice, a second apart, as a process whose connection
 * was lost takes its lock again.
 */
export async function isHolderGone(db: Db, number: number): Promise<boolean> {
  if (await isHolderAlive(db, number)) return false;
  await sleep(RETURN_MS);
  return !await isHolderAlive(db, number);
}
