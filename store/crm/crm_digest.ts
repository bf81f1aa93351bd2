import type { Db } from "../connection.ts";
import { SELECT_REPLY } from "../mail/mod.ts";

/** Most entries of each list of a digest. */
const MAX_LISTED = 10;

/** Something that a digest counts, with the first of them. */
export interface DigestPart {
  readonly count: number;
  /** A line each: an id, and what people call it. */
  readonly first: readonly { readonly id: string; readonly label: string }[];
}

/** Facts that a day's work with contacts begins with. */
export interface DigestFacts {
  /** Added since. */
  readonly contacts: DigestPart;
  /** Mails that wait for a person. */
  readonly heldEmails: DigestPart;
  /** Replies of contacts that nobody has answered or ignored. */
  readonly replies: DigestPart;
  /** Appointments with contacts in the next 24 hours. */
  readonly appointments: DigestPart;
}

/** Returns the facts of a digest, newest first; appointments in their order. */
export async function getDigestFacts(db: Db, since: Date): Promise<DigestFacts> {
  const [contacts, heldEmails, replies, appointments] = await Promise.all([
    read(
      db,
      `SELECT id, name AS label, count(*) OVER ()::int AS count FROM contacts
       WHERE created_at >= $2 ORDER BY created_at DESC LIMIT $1`,
      [since],
    ),
    read(
      db,
      `SELECT id, subject AS label, count(*) OVER ()::int AS count FROM emails
       WHERE state = 'held' ORDER BY created_at DESC LIMIT $1`,
    ),
    read(
      db,
      `SELECT id, subject AS label, count(*) OVER ()::int AS count FROM (${SELECT_REPLY}) AS replies
       WHERE shown IN ('draft', 'held') ORDER BY received_at DESC LIMIT $1`,
    ),
    read(
      db,
      `SELECT e.id, e.title AS label, count(*) OVER ()::int AS count
       FROM calendar_events e JOIN calendar_occurrences o ON o.event_id = e.id
       WHERE e.contact_id IS NOT NULL AND e.kind = 'meeting' AND e.cancelled_at IS NULL
         AND o.starts_at >= now() AND o.starts_at < now() + interval '24 hours'
       ORDER BY o.starts_at LIMIT $1`,
    ),
  ]);
  return { contacts, heldEmails, replies, appointments };
}

async function read(db: Db, sql: string, values: readonly unknown[] = []): Promise<DigestPart> {
  const rows = await db.query<{ id: string; label: string; count: number }>(
    sql,
    [MAX_LISTED, ...values],
  );
  return { count: rows[0]?.count ?? 0, first: rows.map(({ id, label }) => ({ id, label })) };
}
