import { randomBytes } from "node:crypto";
import type { Deal, DealFields } from "../../contract/records/mod.ts";
import type { Db, Row } from "../connection.ts";

/** The place of a deal in its pipeline. */
export interface DealPlace {
  readonly pipeline: string;
  readonly stage: string;
  readonly status: Deal["status"];
}

const COLUMNS = "*, expected_close::text AS closes_on";

/** Returns a deal by id, or undefined. */
export async function getDeal(db: Db, id: string): Promise<Deal | undefined> {
  const row = await db.first(`SELECT ${COLUMNS} FROM deals WHERE id = $1`, [id]);
  return row && toDeal(row);
}

/** Returns a deal and locks it until the transaction ends, or undefined. */
export async function lockDeal(trx: Db, id: string): Promise<Deal | undefined> {
  const row = await trx.first(`SELECT ${COLUMNS} FROM deals WHERE id = $1 FOR UPDATE`, [id]);
  return row && toDeal(row);
}

/** Adds a deal, whose first stay begins with it. @returns its id */
export async function addDeal(
  trx: Db,
  { title, contact_id, amount_minor, currency, expected_close }: DealFields,
  { pipeline, stage, status }: DealPlace,
): Promise<string> {
  const id = `DEAL-${randomBytes(6).toString("hex")}`;
  await trx.execute(
    `INSERT INTO deals (id, title, contact_id, pipeline, stage, status, amount_minor, currency, expected_close)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [id, title, contact_id, pipeline, stage, status, amount_minor, currency, expected_close],
  );
  await beginStay(trx, id, 1, pipeline, stage);
  return id;
}

/** Writes the fields of a deal, which the caller has locked. */
export async function updateDeal(
  trx: Db,
  id: string,
  { title, contact_id, amount_minor, currency, expected_close }: DealFields,
): Promise<void> {
  await trx.execute(
    `UPDATE deals SET title = $2, contact_id = $3, amount_minor = $4, currency = $5, expected_close = $6,
       changed_at = clock_timestamp(), version = version + 1 WHERE id = $1`,
    [id, title, contact_id, amount_minor, currency, expected_close],
  );
}

/** Moves a deal, which the caller has locked, to another stage: ends its stay in the old one. */
export async function moveDeal(
  trx: Db,
  id: string,
  { pipeline, stage, status }: DealPlace,
): Promise<void> {
  const row = await trx.first<{ version: number }>(
    `UPDATE deals SET pipeline = $2, stage = $3, status = $4, changed_at = clock_timestamp(), version = version + 1
     WHERE id = $1 RETURNING version`,
    [id, pipeline, stage, status],
  );
  await trx.execute(
    "UPDATE deal_stays SET left_at = clock_timestamp() WHERE deal_id = $1 AND left_at IS NULL",
    [id],
  );
  await beginStay(trx, id, row!.version, pipeline, stage);
}

async function beginStay(
  trx: Db,
  id: string,
  number: number,
  pipeline: string,
  stage: string,
): Promise<void> {
  await trx.execute(
    "INSERT INTO deal_stays (deal_id, number, pipeline, stage) VALUES ($1, $2, $3, $4)",
    [id, number, pipeline, stage],
  );
}

/** Returns deals, newest first, and the number of all. @param before only deals older than this one */
export async function listDeals(
  db: Db,
  { limit, before }: { readonly limit: number; readonly before?: string | undefined },
): Promise<{ readonly total: number; readonly deals: Deal[] }> {
  const [count, rows] = await Promise.all([
    db.first<{ total: number }>("SELECT count(*)::int AS total FROM deals"),
    db.query(
      `SELECT ${COLUMNS} FROM deals
       WHERE $2::text IS NULL OR (created_at, id) < (SELECT created_at, id FROM deals WHERE id = $2)
       ORDER BY created_at DESC, id DESC LIMIT $1`,
      [limit, before],
    ),
  ]);
  return { total: count!.total, deals: rows.map(toDeal) };
}

/** Deals of one stage and currency. */
export interface StageFigures {
  readonly pipeline: string;
  readonly stage: string;
  readonly currency: string;
  readonly count: number;
  readonly amount_minor: number;
  readonly won: number;
  readonly lost: number;
}

/** Returns how many deals are in each stage now, and their sums, each currency by itself. */
export async function getStageFigures(db: Db): Promise<StageFigures[]> {
  const rows = await db.query<Omit<StageFigures, "amount_minor"> & { amount_minor: string }>(
    `SELECT pipeline, stage, currency, count(*)::int AS count, sum(amount_minor)::text AS amount_minor,
       count(*) FILTER (WHERE status = 'won')::int AS won, count(*) FILTER (WHERE status = 'lost')::int AS lost
     FROM deals GROUP BY pipeline, stage, currency ORDER BY pipeline, currency, stage`,
  );
  return rows.map((row) => ({ ...row, amount_minor: Number(row.amount_minor) }));
}

/** The median of ended stays in a stage. */
export interface StayFigures {
  readonly pipeline: string;
  readonly stage: string;
  readonly currency: string;
  readonly median_days: number;
}

/** Returns how long deals of a currency have stayed in each stage that they have left. */
export async function getStayFigures(db: Db): Promise<StayFigures[]> {
  return await db.query<StayFigures>(
    `SELECT s.pipeline, s.stage, d.currency,
       round((percentile_cont(0.5) WITHIN GROUP (
         ORDER BY extract(epoch FROM s.left_at - s.entered_at)))::numeric / 86400, 2)::float8 AS median_days
     FROM deal_stays s JOIN deals d ON d.id = s.deal_id WHERE s.left_at IS NOT NULL
     GROUP BY s.pipeline, s.stage, d.currency`,
  );
}

/** An open deal about which nothing was done for a while. */
export interface QuietDeal {
  readonly deal_id: string;
  readonly title: string;
  readonly pipeline: string;
  readonly stage: string;
  /** Days since it was changed, or anything was done about it. */
  readonly days: number;
}

/** Returns open deals, those first about which nothing was done for longest. */
export async function listQuietDeals(db: Db): Promise<QuietDeal[]> {
  return await db.query<QuietDeal>(
    `SELECT d.id AS deal_id, d.title, d.pipeline, d.stage,
       extract(epoch FROM now() - greatest(d.changed_at, (
         SELECT max(a.at) FROM crm_activities a WHERE a.deal_id = d.id)))::float8 / 86400 AS days
     FROM deals d WHERE d.status = 'open' ORDER BY days DESC, d.id LIMIT 10000`,
  );
}

function toDeal(row: Row): Deal {
  return {
    deal_id: row.id,
    title: row.title,
    contact_id: row.contact_id,
    pipeline: row.pipeline,
    stage: row.stage,
    amount_minor: Number(row.amount_minor),
    currency: row.currency,
    expected_close: row.closes_on,
    status: row.status,
    created_at: row.created_at.toISOString(),
    version: row.version,
  };
}
