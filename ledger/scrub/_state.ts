import type { Db } from "../../store/mod.ts";
import type { Era, Place } from "../rules/mod.ts";

/** Progress of the scrub. */
export interface ScrubState {
  /** Number of the current or last pass, from 1. */
  readonly pass: number;
  /** Receipts that the pass has verified. */
  readonly position: number;
  /** Receipts that the pass will verify. */
  readonly size: number;
  /** ISO 8601. */
  readonly started_at: string;
  readonly finished_at: string | null;
}

/** The stored state of the scrub. */
export interface StoredScrub extends ScrubState {
  /** The place after the receipts that this pass or an earlier one has verified. */
  readonly verified: Place;
  /** Breaks of the last pass that are not stored, as there were too many. */
  readonly moreBreaks: number;
}

/** Channel that announces changes of the scrub's state or breaks. */
export const SCRUB_CHANNEL = "sealoop_scrub";

/** Gets the state; undefined if there was no pass yet. */
export async function getScrub(db: Db): Promise<StoredScrub | undefined> {
  const row = await db.first(
    `SELECT pass, position, size, started_at, finished_at,
       verified_through, verified_hash, verified_era, more_breaks
     FROM ledger_scrub`,
  );
  return row && {
    pass: Number(row.pass),
    position: Number(row.position),
    size: Number(row.size),
    started_at: row.started_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    verified: {
      position: Number(row.verified_through) + 1,
      previousHash: row.verified_hash?.toString("hex") ?? "",
      previousEra: (row.verified_era ?? undefined) as Era | undefined,
    },
    moreBreaks: Number(row.more_breaks),
  };
}

/** Begins a pass over `size` receipts. @returns its number */
export async function beginPass(trx: Db, size: number): Promise<number> {
  const row = await trx.first(
    `INSERT INTO ledger_scrub AS scrub (pass, size) VALUES (1, $1)
     ON CONFLICT (one) DO UPDATE SET pass = scrub.pass + 1, position = 0, size = excluded.size,
       started_at = now(), finished_at = NULL
     RETURNING pass`,
    [size],
  );
  await announce(trx);
  return Number(row!.pass);
}

/** Stores the progress of a pass. */
export async function setPosition(trx: Db, pass: number, position: number): Promise<void> {
  await trx.execute("UPDATE ledger_scrub SET position = $2 WHERE pass = $1", [pass, position]);
  await announce(trx);
}

/** Stores how far the chain is verified, unless it is verified further already. @param place after the verified part */
export async function setVerified(trx: Db, place: Place): Promise<void> {
  const { position, previousHash, previousEra = null } = place;
  await trx.execute(
    `UPDATE ledger_scrub SET verified_through = $1, verified_hash = $2, verified_era = $3
     WHERE verified_through < $1`,
    [position - 1, Buffer.from(previousHash, "hex"), previousEra],
  );
}

/** Finishes a pass. */
export async function finishPass(trx: Db, pass: number, moreBreaks: number): Promise<void> {
  await trx.execute(
    "UPDATE ledger_scrub SET finished_at = now(), more_breaks = $2 WHERE pass = $1",
    [pass, moreBreaks],
  );
  await announce(trx);
}

/** Notifies the processes that watch the chain, once the transaction commits. */
export async function announce(trx: Db): Promise<void> {
  await trx.execute("SELECT pg_notify($1, '')", [SCRUB_CHANNEL]);
}
