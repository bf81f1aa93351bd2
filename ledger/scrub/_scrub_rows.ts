import type { Db } from "../../store/mod.ts";
import type { Break, Era, Place } from "../rules/mod.ts";
import type { FailedCheck, LedgerBreak } from "./_span.ts";

/** How far the scrub is. */
export interface ScrubState {
  /** Number of the pass that is under way, or was the last; from 1. */
  readonly pass: number;
  /** How far it is, and how far it will go. */
  readonly position: number;
  readonly size: number;
  /** ISO 8601. */
  readonly started_at: string;
  readonly finished_at: string | null;
}

/** What the database keeps of the scrub. */
export interface ScrubRow extends ScrubState {
  /** The place after what was verified, by this pass or an earlier one. */
  readonly verified: Place;
  /** Breaks of the last pass that are not kept, as there were so many. */
  readonly moreBreaks: number;
}

/** A break that is kept. */
export interface KeptBreak extends Break {
  readonly check: FailedCheck;
}

/** Told on this channel: something of the scrub has changed. */
export const SCRUB_CHANNEL = "sealoop_scrub";

/** Reads it; undefined: nothing was ever scrubbed. */
export async function readScrub(on: Db): Promise<ScrubRow | undefined> {
  const row = await on("ledger_scrub").first();
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

/** Begins a pass. @returns its number */
export async function beginPass(on: Db, size: number): Promise<number> {
  const { rows: [row] } = await on.raw(
    `INSERT INTO ledger_scrub AS s (pass, size) VALUES (1, ?)
     ON CONFLICT (one) DO UPDATE SET pass = s.pass + 1, position = 0, size = excluded.size,
       started_at = now(), finished_at = NULL
     RETURNING pass`,
    [size],
  );
  await tell(on);
  return Number(row.pass);
}

/** Notes how far a pass is. */
export async function notePlace(on: Db, pass: number, position: number): Promise<void> {
  await on("ledger_scrub").where({ pass }).update({ position });
  await tell(on);
}

/** Notes how far the chain is verified. What was verified further stays so. @param place after it */
export async function noteVerified(on: Db, place: Place): Promise<void> {
  const { position, previousHash, previousEra = null } = place;
  await on("ledger_scrub").where("verified_through", "<", position - 1).update({
    verified_through: position - 1,
    verified_hash: Buffer.from(previousHash, "hex"),
    verified_era: previousEra,
  });
}

/** Notes that a pass is finished. */
export async function finishPass(on: Db, pass: number, moreBreaks: number): Promise<void> {
  await on("ledger_scrub").where({ pass })
    .update({ finished_at: on.fn.now(), more_breaks: moreBreaks });
  await tell(on);
}

/** Keeps breaks, the first of each position. @returns those that are new, or other than they were */
export async function keepBreaks(
  on: Db,
  pass: number,
  breaks: readonly LedgerBreak[],
): Promise<LedgerBreak[]> {
  if (breaks.length === 0) return [];
  const columns: unknown[][] = [
    breaks.map(({ position }) => position),
    breaks.map(({ check }) => check),
    breaks.map(({ reason }) => reason),
    breaks.map(({ receiptId }) => receiptId),
    breaks.map(() => pass),
  ];
  const { rows } = await on.raw(
    `INSERT INTO ledger_breaks AS b (position, failed_check, reason, receipt_id, last_seen_pass)
     SELECT DISTINCT ON (1) * FROM unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::bigint[])
     ON CONFLICT (position) DO UPDATE SET failed_check = excluded.failed_check,
       reason = excluded.reason, receipt_id = excluded.receipt_id,
       last_seen_pass = greatest(b.last_seen_pass, excluded.last_seen_pass), healed_at = NULL,
       first_found_at = CASE WHEN b.healed_at IS NULL AND b.failed_check = excluded.failed_check
         THEN b.first_found_at ELSE now() END
       WHERE b.last_seen_pass < excluded.last_seen_pass OR b.healed_at IS NOT NULL
     RETURNING position, first_found_at = now() AS fresh`,
    // deno-lint-ignore no-explicit-any -- knex types its bindings more narrowly than it takes them
    columns as any,
  );
  await tell(on);
  const fresh = new Set(
    rows.filter((row: { fresh: boolean }) => row.fresh)
      .map((row: { position: string }) => Number(row.position)),
  );
  return breaks.filter(({ position }) => fresh.delete(position));
}

/** Marks as healed what a pass has not found any more. @returns the positions */
export async function healBreaks(on: Db, pass: number): Promise<number[]> {
  const rows = await on("ledger_breaks").whereNull("healed_at").where("last_seen_pass", "<", pass)
    .update({ healed_at: on.fn.now() }).returning("position");
  return rows.map(({ position }) => Number(position));
}

/** Breaks that are still so: the first ones, and how many there are. */
export async function openBreaks(
  on: Db,
  limit: number,
): Promise<{ first: KeptBreak[]; count: number }> {
  const rows = await on("ledger_breaks").whereNull("healed_at").orderBy("position").limit(limit)
    .select("position", "failed_check", "reason", on.raw("count(*) OVER () AS n"));
  return {
    first: rows.map(({ position, failed_check, reason }) => ({
      position: Number(position),
      check: failed_check,
      reason,
    })),
    count: Number(rows[0]?.n ?? 0),
  };
}

/** Which of these breaks are no more: a pass that ended after they were found has found none there. */
export async function healedOf(on: Db, positions: readonly number[]): Promise<number[]> {
  const rows = await on("ledger_breaks").whereNotNull("healed_at").whereIn("position", positions)
    .select("position");
  return rows.map(({ position }) => Number(position));
}

async function tell(on: Db): Promise<void> {
  await on.raw("SELECT pg_notify(?, '')", [SCRUB_CHANNEL]);
}
