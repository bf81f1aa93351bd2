import type { Db, Row } from "../connection.ts";

/** States of an application, and those that people can move it to from each. */
export const APPLICATION_MOVES = {
  new: ["reviewing"],
  reviewing: ["approved", "rejected"],
  approved: [],
  rejected: ["reviewing"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** State of an application. */
export type ApplicationStatus = keyof typeof APPLICATION_MOVES;

/** Somebody's wish to become a partner, as the website's form sent it. */
export interface PartnerApplication {
  readonly application_id: number;
  readonly name: string;
  readonly email: string;
  readonly company: string;
  readonly website: string | null;
  readonly message: string;
  readonly status: ApplicationStatus;
  /** When its author agreed that these data are kept. */
  readonly consent_at: string;
  readonly created_at: string;
  readonly changed_at: string;
  readonly version: number;
  /** Receipt of its newest move. */
  readonly receipt_id: string;
}

/** An application to add. */
export type NewApplication =
  & Pick<PartnerApplication, "name" | "email" | "company" | "message" | "receipt_id">
  & { readonly website?: string | undefined };

/** Returns the next number of an application, which is then given to no other. */
export async function takeApplicationId(db: Db): Promise<number> {
  const row = await db.first<{ id: number }>(
    "SELECT nextval('partner_applications_id_seq')::int AS id",
  );
  return row!.id;
}

/** Adds an application under its number. */
export async function addApplication(
  trx: Db,
  id: number,
  { name, email, company, website, message, receipt_id }: NewApplication,
): Promise<void> {
  await trx.execute(
    `INSERT INTO partner_applications (id, name, email, company, website, message, receipt_id)
     OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, name, email, company, website, message, receipt_id],
  );
}

/** Returns an application by its number, or undefined. */
export async function getApplication(
  db: Db,
  id: number,
): Promise<PartnerApplication | undefined> {
  const row = await db.first("SELECT * FROM partner_applications WHERE id = $1", [id]);
  return row && toApplication(row);
}

/**
 * Moves an application, if its state allows that.
 *
 * @returns false where it has another state or version by now
 */
export async function moveApplication(
  trx: Db,
  { application_id, status, version }: PartnerApplication,
  to: ApplicationStatus,
  receiptId: string,
): Promise<boolean> {
  const moved = await trx.execute(
    `UPDATE partner_applications SET status = $3, receipt_id = $5, version = version + 1, changed_at = clock_timestamp()
     WHERE id = $1 AND status = $2 AND version = $4`,
    [application_id, status, to, version, receiptId],
  );
  return moved > 0;
}

/** Returns applications, newest first, and the number of all with that status. */
export async function listApplications(
  db: Db,
  { status, limit }: { readonly status?: ApplicationStatus | undefined; readonly limit: number },
): Promise<{ readonly total: number; readonly applications: PartnerApplication[] }> {
  const [count, rows] = await Promise.all([
    db.first<{ total: number }>(
      `SELECT count(*)::int AS total FROM partner_applications WHERE $1::text IS NULL OR status = $1`,
      [status],
    ),
    db.query(
      `SELECT * FROM partner_applications WHERE $1::text IS NULL OR status = $1 ORDER BY id DESC LIMIT $2`,
      [status, limit],
    ),
  ]);
  return { total: count!.total, applications: rows.map(toApplication) };
}

function toApplication(row: Row): PartnerApplication {
  return {
    application_id: row.id,
    name: row.name,
    email: row.email,
    company: row.company,
    website: row.website,
    message: row.message,
    status: row.status,
    consent_at: row.consent_at.toISOString(),
    created_at: row.created_at.toISOString(),
    changed_at: row.changed_at.toISOString(),
    version: row.version,
    receipt_id: row.receipt_id,
  };
}
