import { commitTo, computeCommitment } from "../commitment.ts";
import type { Db } from "../connection.ts";

/** One version of a policy. */
export interface PolicyVersion {
  /** From 1. */
  readonly version: number;
  readonly policy: unknown;
  /** SHA-256 of a salt and then the policy's text, hex: how receipts and verdicts name it. */
  readonly commitment: string;
}

/** One version of a policy, with the salt of its commitment. */
export interface PolicyRecord extends PolicyVersion {
  readonly salt: Buffer;
}

/** A policy put in force, and the one before. */
export interface PolicyChange {
  readonly before: PolicyRecord | undefined;
  /** Same as `before` where that policy is in force already. */
  readonly after: PolicyRecord;
}

/** Tables of policies: of the guardrails, of governance, of the shield, of the use of models, and of who may sign in. */
export type PolicyTable =
  | "guard_policies"
  | "governance_policies"
  | "shield_policies"
  | "model_policies"
  | "people_policies";

const CURRENT: Readonly<Record<PolicyTable, string>> = {
  guard_policies:
    "SELECT version, policy, commitment, salt FROM guard_policies ORDER BY version DESC LIMIT 1",
  governance_policies:
    "SELECT version, policy, commitment, salt FROM governance_policies ORDER BY version DESC LIMIT 1",
  shield_policies:
    "SELECT version, policy, commitment, salt FROM shield_policies ORDER BY version DESC LIMIT 1",
  model_policies:
    "SELECT version, policy, commitment, salt FROM model_policies ORDER BY version DESC LIMIT 1",
  people_policies:
    "SELECT version, policy, commitment, salt FROM people_policies ORDER BY version DESC LIMIT 1",
};

const INSERT: Readonly<Record<PolicyTable, string>> = {
  guard_policies:
    "INSERT INTO guard_policies (version, policy, commitment, salt) VALUES ($1, $2, $3, $4)",
  governance_policies:
    "INSERT INTO governance_policies (version, policy, commitment, salt) VALUES ($1, $2, $3, $4)",
  shield_policies:
    "INSERT INTO shield_policies (version, policy, commitment, salt) VALUES ($1, $2, $3, $4)",
  model_policies:
    "INSERT INTO model_policies (version, policy, commitment, salt) VALUES ($1, $2, $3, $4)",
  people_policies:
    "INSERT INTO people_policies (version, policy, commitment, salt) VALUES ($1, $2, $3, $4)",
};

/** Advisory lock under which versions are numbered, until the transaction ends. */
const LOCK = 7_365_616_109;

/** Returns the policy in force; undefined: none was set. */
export async function currentPolicy(
  db: Db,
  table: PolicyTable,
): Promise<PolicyRecord | undefined> {
  return await db.first<PolicyRecord>(CURRENT[table]);
}

/** Returns the newest versions of the governance policy, newest first. @param limit > 0 */
export async function listPolicyVersions(
  db: Db,
  limit: number,
): Promise<(PolicyVersion & { readonly setAt: Date })[]> {
  return await db.query(
    `SELECT version, policy, commitment, set_at AS "setAt" FROM governance_policies
     ORDER BY version DESC LIMIT $1`,
    [limit],
  );
}

/** Keeps every policy in force as it is until the transaction ends. */
export async function holdPolicies(trx: Db): Promise<void> {
  await trx.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
}

/** Puts a policy in force as a new version, unless it is in force already. */
export async function setPolicy(
  db: Db,
  table: PolicyTable,
  policy: Readonly<Record<string, unknown>>,
): Promise<PolicyChange> {
  return await db.transaction(async (trx) => {
    await holdPolicies(trx);
    const before = await currentPolicy(trx, table);
    const text = JSON.stringify(policy);
    if (before && computeCommitment(before.salt, text) === before.commitment) {
      return { before, after: before };
    }
    const { commitment, salt } = commitTo(text);
    const after = { version: (before?.version ?? 0) + 1, policy, commitment, salt };
    await trx.execute(INSERT[table], [after.version, text, commitment, salt]);
    return { before, after };
  });
}
