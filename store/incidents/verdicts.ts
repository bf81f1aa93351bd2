/** Verdicts of the guardrails on repairs. The worker alone writes them: a repair believes no other row. */
import type { Decision } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** The guardrails' verdict on one action. */
export interface RepairVerdict {
  readonly action_id: string;
  /** True: it was asked for again, as a change freeze had begun. */
  readonly frozen: boolean;
  readonly decision: Decision;
  readonly policy_version: string;
  /** Receipt that seals it. */
  readonly receipt_id: string;
}

/** Stores a verdict, once. @returns false where the action has one */
export async function putVerdict(trx: Db, verdict: RepairVerdict): Promise<boolean> {
  const { action_id, frozen, decision, policy_version, receipt_id } = verdict;
  return await trx.execute(
    `INSERT INTO repair_verdicts (action_id, frozen, decision, policy_version, receipt_id)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant_id, action_id, frozen) DO NOTHING`,
    [action_id, frozen, decision, policy_version, receipt_id],
  ) > 0;
}

/** Returns the verdict on an action, or undefined. */
export async function getVerdict(
  db: Db,
  actionId: string,
  frozen: boolean,
): Promise<RepairVerdict | undefined> {
  return await db.first<RepairVerdict>(
    `SELECT action_id, frozen, decision, policy_version, receipt_id FROM repair_verdicts
     WHERE action_id = $1 AND frozen = $2`,
    [actionId, frozen],
  );
}
