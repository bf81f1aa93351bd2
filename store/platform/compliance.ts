import { DRILL_SERVICE_PATTERN } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** Facts about the platform that compliance controls are compared with: counts, no names. */
export interface StoredFacts {
  readonly keys: {
    /** Neither revoked nor expired. */
    readonly active: number;
    /** Active ones below the admin tier that never expire. */
    readonly endless: number;
    /** Active ones that are older than 90 days and were not used for 90 days. */
    readonly stale: number;
    readonly admins: number;
    readonly auditors: number;
    /** Principals with a key that may approve. */
    readonly approvers: number;
  };
  readonly services: {
    readonly known: number;
    readonly owned: number;
    readonly watched: number;
    /** Watched, and probed within the last hour. */
    readonly looked_at: number;
    readonly down: number;
    /** Services of a type that begins with `backup`. */
    readonly backups: number;
    /** Such services that were up within the last day. */
    readonly backups_up: number;
  };
  readonly tickets: {
    readonly open: number;
    /** Critical or high, and open for more than a day. */
    readonly overdue: number;
    /** Within 90 days. */
    readonly resolved: number;
    readonly with_receipt: number;
  };
  /** Within 90 days, by state. */
  readonly repairs: { readonly done: number; readonly not_done: number; readonly unknown: number };
  readonly approvals: {
    readonly pending: number;
    /** Within 90 days. */
    readonly decided: number;
    readonly expired: number;
  };
  /** Detectors that ever ran, and those that ran within the last hour without an error. */
  readonly detectors: { readonly known: number; readonly fresh: number };
  /** Present findings of security scans; grave: critical and high. */
  readonly weaknesses: { readonly open: number; readonly grave: number };
  /** Version of the guardrails' policy; 0: the one that ships. */
  readonly policy_version: number;
  /** Past incidents in the knowledge base. */
  readonly learnt: number;
}

/**
 * Counts the facts that controls are compared with, in one snapshot: of the handle's tenant, and the keys of all tenants,
 * as each of them opens the platform. Those of drills are left out.
 */
export async function getStoredFacts(db: Db): Promise<StoredFacts> {
  const row = await db.first<{ facts: StoredFacts }>(
    `SELECT json_build_object(
      'keys', (SELECT json_build_object(
          'active', count(*),
          'endless', count(*) FILTER (WHERE tier <> 'admin' AND expires_at IS NULL),
          'stale', count(*) FILTER (
            WHERE coalesce(last_used_at, created_at) < now() - interval '90 days'),
          'admins', count(*) FILTER (WHERE tier = 'admin'),
          'auditors', count(*) FILTER (WHERE scope = 'audit'),
          'approvers', count(DISTINCT lower(trim(principal))) FILTER (WHERE may_approve))
        FROM all_keys() WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())),
      'services', (SELECT json_build_object(
          'known', count(*),
          'owned', count(*) FILTER (WHERE owner IS NOT NULL OR origin = 'platform'),
          'watched', count(*) FILTER (WHERE watched AND health_check IS NOT NULL),
          'looked_at', count(*) FILTER (WHERE watched AND health_check IS NOT NULL
            AND status <> 'unknown' AND checked_at > now() - interval '1 hour'),
          'down', count(*) FILTER (WHERE status = 'down'),
          'backups', count(*) FILTER (WHERE type LIKE 'backup%'),
          'backups_up', count(*) FILTER (WHERE type LIKE 'backup%' AND status = 'up'
            AND checked_at > now() - interval '1 day'))
        FROM services WHERE origin <> 'test'),
      'tickets', (SELECT json_build_object(
          'open', count(*) FILTER (WHERE status = 'open'),
          'overdue', count(*) FILTER (WHERE status = 'open' AND severity IN ('critical', 'high')
            AND opened_at < now() - interval '1 day'),
          'resolved', count(*) FILTER (WHERE resolved_at > now() - interval '90 days'),
          'with_receipt', count(*) FILTER (
            WHERE resolved_at > now() - interval '90 days' AND receipt_id IS NOT NULL))
        FROM tickets WHERE coalesce(service, '') !~ $1),
      'repairs', (SELECT json_build_object(
          'done', count(*) FILTER (WHERE state = 'done'),
          'not_done', count(*) FILTER (WHERE state = 'not_done'),
          'unknown', count(*) FILTER (WHERE state = 'unknown'))
        FROM effects WHERE intended_at > now() - interval '90 days' AND undoes IS NULL
          AND service !~ $1),
      'approvals', (SELECT json_build_object(
          'pending', count(*) FILTER (WHERE status = 'pending'),
          'decided', count(*) FILTER (WHERE status IN ('approved', 'denied')
            AND decided_at > now() - interval '90 days'),
          'expired', count(*) FILTER (WHERE status = 'expired'
            AND asked_at > now() - interval '90 days'))
        FROM approvals),
      'detectors', (SELECT json_build_object(
          'known', count(*),
          'fresh', count(*) FILTER (WHERE error IS NULL AND last_run_at > now() - interval '1 hour'))
        FROM detections WHERE detector NOT LIKE '%:%'), -- scanners of weaknesses look once a day
      'weaknesses', (SELECT json_build_object(
          'open', count(*),
          'grave', count(*) FILTER (WHERE severity IN ('critical', 'high')))
        FROM findings WHERE detector = 'security_scan' AND cleared_at IS NULL),
      'policy_version', (SELECT coalesce(max(version), 0) FROM guard_policies),
      'learnt', (SELECT count(*) FROM knowledge WHERE kind = 'incident' AND current)
    ) AS facts`,
    [DRILL_SERVICE_PATTERN],
  );
  return row!.facts;
}

/** Counts receipts by category, as the ledger counts them. */
export async function countReceiptsByCategory(db: Db): Promise<Record<string, number>> {
  const rows = await db.query("SELECT category, n FROM ledger_categories");
  return Object.fromEntries(rows.map(({ category, n }) => [category, Number(n)]));
}
