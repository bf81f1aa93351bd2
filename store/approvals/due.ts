/** Things that are due at a time, of which people are told. */
import type { Severity } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** A pending approval that expires soon. */
export interface ExpiringApproval {
  readonly id: string;
  readonly expiresAt: string;
  readonly ticketId: string | null;
  /** Severity of its ticket. */
  readonly severity: Severity | null;
  readonly service: string | null;
}

/** Returns approvals that nobody has decided about, and that expire within a tenth of their time, an hour at most. */
export async function listExpiringApprovals(db: Db): Promise<ExpiringApproval[]> {
  const rows = await db.query(
    `SELECT a.id, a.expires_at, a.ticket_id, t.severity, t.service
     FROM approvals a LEFT JOIN tickets t ON t.id = a.ticket_id
     WHERE a.status = 'pending' AND a.expires_at > now()
       AND a.expires_at < now() + least(3600, a.expires_in_seconds / 10.0) * interval '1 second'`,
  );
  return rows.map((row) => ({
    id: row.id,
    expiresAt: row.expires_at.toISOString(),
    ticketId: row.ticket_id,
    severity: row.severity,
    service: row.service,
  }));
}
