import { createHash } from "node:crypto";
import { type Queryable, type Store, transaction } from "./connection.ts";

/** A policy in one version. */
export interface PolicyRecord {
  /** From 1. */
  readonly version: number;
  readonly policy: unknown;
  /** Over the canonical text of the policy, 64 hex characters. */
  readonly sha256: string;
}

/** Key of the lock under which versions are counted. */
const LOCK = 7_365_616_109;

/** What there are policies of, by the tables that keep them: the guardrails, and governance. */
export type PolicyTable = "guard_policies" | "governance_policies";

/** The policy in force, or undefined while none was set. */
export async function currentPolicy(
  on: Queryable,
  table: PolicyTable = "guard_policies",
): Promise<PolicyRecord | undefined> {
  return await on(table).orderBy("version", "desc")
    .first("version", "policy", "sha256");
}

/**
 * Puts a policy in force as a new version, unless it is in force already.
 *
 * @param changed told of the change within its transaction
 * @returns what is in force
 */
export async function setPolicy(
  store: Store,
  policy: Readonly<Record<string, unknown>>,
  changed: (on: Queryable, before: PolicyRecord | undefined, after: PolicyRecord) => Promise<void>,
  table: PolicyTable = "guard_policies",
): Promise<PolicyRecord> {
  return await transaction(store, async (trx) => {
    await trx.raw("SELECT pg_advisory_xact_lock(?)", [LOCK]);
    const before = await currentPolicy(trx, table);
    const text = JSON.stringify(policy);
    const sha256 = createHash("sha256").update(text).digest("hex");
    if (before?.sha256 === sha256) return before;
    const after = { version: (before?.version ?? 0) + 1, policy, sha256 };
    await trx(table).insert({ ...after, policy: text });
    await changed(trx, before, after);
    return after;
  });
}

/** How the file of the governance policy stands. */
export interface PolicyFileStatus {
  readonly path: string;
  /** Why it is not followed; null: it is, or there is none. */
  readonly error: string | null;
}

/** Keeps how the file of the governance policy stands. */
export async function setPolicyFileStatus(
  on: Queryable,
  { path, error }: PolicyFileStatus,
): Promise<void> {
  await on("governance_file").insert({ path, trouble, since: on.fn.now() }).onConflict("one")
    .merge();
}

/** How the file of the governance policy stands; undefined: nobody has looked yet. */
export async function getPolicyFileStatus(on: Queryable): Promise<PolicyFileStatus | undefined> {
  return await on("governance_file").first("path", "trouble");
}
