import { randomBytes } from "node:crypto";
import type { Activity } from "../../contract/records/mod.ts";
import type { Db, Row } from "../connection.ts";

/** An activity to add. */
export interface NewActivity {
  readonly kind: Activity["kind"];
  readonly contactId?: string | null;
  readonly dealId?: string | null;
  readonly actor: string;
  /** Names of fields and stages, ids; never what people are called or have written. */
  readonly summary: string;
  readonly receiptId?: string;
}

/** Adds an activity, in the transaction of the change that it tells of. @returns its id */
export async function addActivity(trx: Db, activity: NewActivity): Promise<string> {
  const { kind, contactId, dealId, actor, summary, receiptId } = activity;
  const id = `ACT-${randomBytes(6).toString("hex")}`;
  await trx.execute(
    `INSERT INTO crm_activities (id, kind, contact_id, deal_id, actor, summary, receipt_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, kind, contactId, dealId, actor, summary, receiptId],
  );
  return id;
}

/** Selects activities. Fields that are left out match everything. */
export interface ActivityFilter {
  readonly contact_id?: string | undefined;
  readonly deal_id?: string | undefined;
  /** Activities older than this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Returns activities, newest first, and the number of all that the filter selects. */
export async function listActivities(
  db: Db,
  { contact_id, deal_id, before, limit }: ActivityFilter,
): Promise<{ readonly total: number; readonly activities: Activity[] }> {
  const [count, rows] = await Promise.all([
    db.first<{ total: number }>(
      `SELECT count(*)::int AS total FROM crm_activities
       WHERE ($1::text IS NULL OR contact_id = $1) AND ($2::text IS NULL OR deal_id = $2)`,
      [contact_id, deal_id],
    ),
    db.query(
      `SELECT * FROM crm_activities
       WHERE ($1::text IS NULL OR contact_id = $1) AND ($2::text IS NULL OR deal_id = $2)
         AND ($3::text IS NULL OR (at, id) < (SELECT at, id FROM crm_activities WHERE id = $3))
       ORDER BY at DESC, id DESC LIMIT $4`,
      [contact_id, deal_id, before, limit],
    ),
  ]);
  return { total: count!.total, activities: rows.map(toActivity) };
}

function toActivity(row: Row): Activity {
  return {
    activity_id: row.id,
    kind: row.kind,
    contact_id: row.contact_id,
    deal_id: row.deal_id,
    actor: row.actor,
    summary: row.summary,
    at: row.at.toISOString(),
    receipt_id: row.receipt_id,
  };
}
