import { joinTexts, say } from "../../contract/domain/mod.ts";
import type { Db } from "../../store/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import type { Break } from "../rules/mod.ts";
import { requestSeals } from "../seal/mod.ts";
import { announce } from "./_state.ts";
import type { FailedCheck, LedgerBreak } from "./breaks.ts";

/** A stored break. */
export interface StoredBreak extends Break {
  readonly check: FailedCheck;
}

/** Maximum breaks of a pass that are stored and sealed one by one; others are only counted. */
export const MAX_STORED_BREAKS = 10_000;
/** Maximum breaks that a message names. */
const MAX_TOLD_BREAKS = 10;
const ACTOR = "ledger-scrub";
const SUBJECT = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Stores breaks, the first of each position, and requests a receipt for each new one.
 *
 * @param pass with the number of breaks that it has found before
 * @param onBreak called for each new break
 */
export async function recordBreaks(
  trx: Db,
  { pass, found }: { readonly pass: number; readonly found: number },
  breaks: readonly LedgerBreak[],
  onBreak: (found: LedgerBreak) => void,
): Promise<void> {
  const stored = breaks.slice(0, Math.max(0, MAX_STORED_BREAKS - found));
  const fresh = await storeBreaks(trx, pass, stored);
  if (fresh.length === 0) return;
  fresh.forEach(onBreak);
  await tellOfBreaks(trx, fresh);
  // The ids of these receipts are random: an id that can be guessed could be used by somebody else.
  await requestSeals(
    trx,
    fresh.map(({ position, check, receiptId }) => ({
      category: "ledger_break",
      actor: ACTOR,
      subject: receiptId && SUBJECT.test(receiptId) ? receiptId : `position-${position}`,
      action: "scrub",
      outcome: "broken",
      details: { pass, position, check },
    })),
  );
}

/** Tells people of new breaks, in one message. */
async function tellOfBreaks(trx: Db, breaks: readonly LedgerBreak[]): Promise<void> {
  const more = breaks.length - 1;
  await addMessage(trx, {
    kind: "ledger.break",
    from: ACTOR,
    subject: say`The ledger is broken at position ${breaks[0]!.position}${
      more > 0 ? say` and ${more} more` : ""
    }`,
    text: joinTexts(
      breaks.slice(0, MAX_TOLD_BREAKS)
        .map(({ position, check, reason }) => say`position ${position} (${check}): ${reason}`),
      "\n",
    ),
    severity: "critical",
  });
}

/** @returns the breaks that are new, or different than before */
async function storeBreaks(
  trx: Db,
  pass: number,
  breaks: readonly LedgerBreak[],
): Promise<LedgerBreak[]> {
  if (breaks.length === 0) return [];
  const rows = await trx.query(
    `INSERT INTO ledger_breaks AS b (position, failed_check, reason, receipt_id, last_seen_pass)
     SELECT DISTINCT ON (position) position, failed_check, reason, receipt_id, $5::bigint
       FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
         AS found (position, failed_check, reason, receipt_id, n)
       ORDER BY position, n
     ON CONFLICT (position) DO UPDATE SET failed_check = excluded.failed_check,
       reason = excluded.reason, receipt_id = excluded.receipt_id,
       last_seen_pass = greatest(b.last_seen_pass, excluded.last_seen_pass), healed_at = NULL,
       first_found_at = CASE WHEN b.healed_at IS NULL AND b.failed_check = excluded.failed_check
         THEN b.first_found_at ELSE now() END
       WHERE b.last_seen_pass < excluded.last_seen_pass OR b.healed_at IS NOT NULL
     RETURNING position, first_found_at = now() AS is_new`,
    [
      breaks.map(({ position }) => position),
      breaks.map(({ check }) => check),
      breaks.map(({ reason }) => reason),
      breaks.map(({ receiptId }) => receiptId),
      pass,
    ],
  );
  await announce(trx);
  const fresh = new Set(rows.filter((row) => row.is_new).map((row) => Number(row.position)));
  return breaks.filter(({ position }) => fresh.delete(position));
}

/** Marks breaks that a pass has not found again as healed, and requests a receipt for each. */
export async function recordHealed(trx: Db, pass: number): Promise<void> {
  const rows = await trx.query(
    `UPDATE ledger_breaks SET healed_at = now() WHERE healed_at IS NULL AND last_seen_pass < $1
     RETURNING position`,
    [pass],
  );
  if (rows.length === 0) return;
  const positions = rows.map((row) => Number(row.position));
  await requestSeals(
    trx,
    positions.map((position) => ({
      category: "ledger_break",
      actor: ACTOR,
      subject: `position-${position}`,
      action: "scrub",
      outcome: "healed",
      details: { pass, position },
    })),
  );
}

/** Lists the first breaks that are not healed, and counts all of them. @param limit > 0 */
export async function listOpenBreaks(
  db: Db,
  limit: number,
): Promise<{ readonly first: readonly StoredBreak[]; readonly count: number }> {
  const rows = await db.query(
    `SELECT position, failed_check, reason, count(*) OVER () AS total
     FROM ledger_breaks WHERE healed_at IS NULL ORDER BY position LIMIT $1`,
    [limit],
  );
  return {
    first: rows.map((row) => ({
      position: Number(row.position),
      check: row.failed_check,
      reason: row.reason,
    })),
    count: Number(rows[0]?.total ?? 0),
  };
}

/** Lists those of some positions whose breaks are stored as healed. */
export async function listHealed(db: Db, positions: readonly number[]): Promise<number[]> {
  const rows = await db.query(
    "SELECT position FROM ledger_breaks WHERE healed_at IS NOT NULL AND position = ANY ($1)",
    [positions],
  );
  return rows.map((row) => Number(row.position));
}
