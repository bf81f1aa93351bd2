/** The people on a ticket: who has acknowledged it, and whom the platform leaves it to. */
import type { Db } from "../connection.ts";

/** Acknowledges an open ticket for a person, once. @returns false: somebody has, or it is not open */
export async function acknowledgeTicket(db: Db, id: string, principal: string): Promise<boolean> {
  const acknowledged = await db.execute(
    `UPDATE tickets SET acknowledged_by = $2, acknowledged_at = now()
     WHERE id = $1 AND status = 'open' AND acknowledged_by IS NULL`,
    [id, principal],
  );
  return acknowledged > 0;
}

/** Gives an open ticket to a person, who has then acknowledged it too. @returns false: somebody has it, or it is not open */
export async function takeTicket(db: Db, id: string, principal: string): Promise<boolean> {
  const taken = await db.execute(
    `UPDATE tickets SET taken_by = $2, taken_at = now(), handed_back_at = NULL,
       acknowledged_by = coalesce(acknowledged_by, $2), acknowledged_at = coalesce(acknowledged_at, now())
     WHERE id = $1 AND status = 'open' AND taken_by IS NULL`,
    [id, principal],
  );
  return taken > 0;
}

/** Takes an open ticket from the person who has it. @returns false: another one has it, or nobody, or it is not open */
export async function handBackTicket(db: Db, id: string, principal: string): Promise<boolean> {
  const handed = await db.execute(
    `UPDATE tickets SET taken_by = NULL, taken_at = NULL, handed_back_at = now()
     WHERE id = $1 AND status = 'open' AND taken_by = $2`,
    [id, principal],
  );
  return handed > 0;
}

/** Returns whom the platform leaves a ticket to; null: nobody. */
export async function getTaker(db: Db, id: string): Promise<string | null> {
  const row = await db.first<{ taken_by: string | null }>(
    "SELECT taken_by FROM tickets WHERE id = $1 AND status = 'open'",
    [id],
  );
  return row?.taken_by ?? null;
}

/** Returns the fingerprint of a ticket's fault; null: people opened it. */
export async function getTicketFault(db: Db, id: string): Promise<string | null> {
  const row = await db.first<{ fingerprint: string | null }>(
    "SELECT fingerprint FROM tickets WHERE id = $1",
    [id],
  );
  return row?.fingerprint ?? null;
}
