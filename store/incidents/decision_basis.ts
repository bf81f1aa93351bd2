/** Sources of the loop's decisions, beside the fault: where one of these changes, it may decide otherwise. */
import type { Db } from "../connection.ts";

/** Escalations by a decision of the loop that could be another one when what it rests on has changed. */
export const RETRIED_REASONS: readonly string[] = [
  "no_runbook",
  "not_done",
  "not_healed",
  "refused_by_guardrails",
];

/** Hashes of what a decision about a service rests on; null: there is none. */
export interface DecisionBasis {
  readonly runbooks: string | null;
  readonly commands: string | null;
  /** Entry of the service, with its dependencies. */
  readonly service: string | null;
  /** Values that runbooks are given for it. */
  readonly values: string | null;
  /** Version of the guardrails' policy. */
  readonly policy: string | null;
}

/** Reads what a decision would rest on now. @param service null: the fault is about none */
export async function readDecisionBasis(db: Db, service: string | null): Promise<DecisionBasis> {
  const row = await db.first<DecisionBasis>(
    `SELECT
       (SELECT md5(string_agg(sha256, ',' ORDER BY name)) FROM runbooks WHERE active) AS runbooks,
       (SELECT sha256 FROM runbook_commands) AS commands,
       (SELECT md5(jsonb_build_array(s.type, s.host, s.health_check, s.restart, s.runbook,
          (SELECT jsonb_agg(t.name ORDER BY t.name) FROM service_edges e JOIN services t ON t.id = e.target
           WHERE e.source = s.id AND e.tenant_id = s.tenant_id))::text)
        FROM services s WHERE s.name = $1) AS service,
       (SELECT md5(given::text) FROM runbook_values WHERE service = $1) AS values,
       (SELECT max(version)::text FROM guard_policies) AS policy`,
    [service],
  );
  return row!;
}

/** An open ticket that was left to people by a decision. */
export interface UndoneDecision {
  readonly fingerprint: string;
  readonly service: string | null;
  /** Basis of its last diagnosis. */
  readonly basis: DecisionBasis;
}

/** Lists, of the given faults, those that were left to people by such a decision, and that nobody has taken. */
export async function listUndoneDecisions(
  db: Db,
  fingerprints: readonly string[],
): Promise<UndoneDecision[]> {
  return await db.query<UndoneDecision>(
    `SELECT t.fingerprint, t.service, d.data -> 'basis' AS basis FROM tickets t
     CROSS JOIN LATERAL (SELECT data FROM ticket_events e WHERE e.ticket_id = t.id AND e.kind = 'escalated'
       ORDER BY e.id DESC LIMIT 1) AS x
     CROSS JOIN LATERAL (SELECT data FROM ticket_events e WHERE e.ticket_id = t.id AND e.kind = 'diagnosed'
       ORDER BY e.id DESC LIMIT 1) AS d
     WHERE t.status = 'open' AND t.escalated AND t.taken_by IS NULL AND t.fingerprint = ANY ($1::text[])
       AND x.data ->> 'reason' = ANY ($2::text[]) AND d.data -> 'basis' IS NOT NULL`,
    [fingerprints, RETRIED_REASONS],
  );
}
