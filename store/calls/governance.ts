import type { Decision } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** The governance decision about one call, made before the call runs. */
export interface DecisionRecord {
  /** `GOV-` and 12 hex characters. */
  readonly id: string;
  readonly tenant: string;
  readonly keyId: string;
  readonly principal: string;
  /** The interface of the call: `rest`, `mcp` or `a2a`. */
  readonly door: string;
  /** The name that the caller used: a tool's, or an operation id. */
  readonly tool: string;
  readonly operation: string;
  readonly effect: string;
  readonly decision: Decision;
  /** The rule of the policy, or what else decided. */
  readonly rule: string;
  /** Sentences. */
  readonly reasons: readonly string[];
  /** True where the call itself was the decision of a person who may approve. */
  readonly callerApproves: boolean;
  readonly policyVersion: string;
  readonly dryRun: boolean;
  readonly approvalId: string | null;
  /** Receipt of the decision itself. */
  readonly receiptId: string;
  /** Receipt of the call's end; null: the operation seals that itself. */
  readonly callReceiptId: string | null;
  /** True where the call runs now, so that its end has to become known. */
  readonly runs: boolean;
  /** Number of the process's {@linkcode Holder} lock; null: none. */
  readonly holder: number | null;
}

/** A decision as it is listed. */
export type ListedDecision = Omit<DecisionRecord, "holder" | "runs"> & { readonly at: Date };

/** A switch that stops calls. */
export interface Stop {
  readonly kind: "all" | "key" | "tool";
  /** Key id, or name of a tool or operation. For `all`: empty, {@linkcode FILE_STOP} or {@linkcode FLAG_STOP}. */
  readonly name: string;
  readonly reason: string;
}

/** A stop, and when it was set. */
export type DatedStop = Stop & { readonly stopped_at: Date };

/** Name of the stop that is set while the policy file can't be read. */
export const FILE_STOP = "governance-file";

/** Name of the stop that is set while the flag `read_only` is. */
export const FLAG_STOP = "read-only-flag";

/** The governance policy's version and all stops. */
export interface GovernanceInForce {
  /** 0: no policy was set. */
  readonly version: number;
  readonly stops: readonly Stop[];
}

/** The call or repair that a stop may apply to. */
export interface StopSubject {
  /** Id of the key in whose name it is done; null: nobody's. */
  readonly keyId: string | null;
  /** Names of its tools and operations. */
  readonly names: readonly string[];
}

const IN_FORCE = {
  name: "governance_in_force",
  text: `
    SELECT
      (SELECT coalesce(max(version), 0) FROM governance_policies) AS version,
      (SELECT coalesce(json_agg(json_build_object('kind', kind, 'name', name, 'reason', reason) ORDER BY kind, name), '[]')
       FROM governance_stops) AS stops`,
};

/** Reads the policy's version and all stops. */
export async function governanceInForce(db: Db): Promise<GovernanceInForce> {
  return (await db.first<GovernanceInForce>(IN_FORCE))!;
}

/** Returns the first of these stops that applies, or undefined. */
export function stopFor<S extends Stop>(
  stops: readonly S[],
  { keyId, names }: StopSubject,
): S | undefined {
  return stops.find(({ kind, name }) =>
    kind === "all" || (kind === "key" ? name === keyId : names.includes(name))
  );
}

/** Returns the stop that applies now, or undefined. Where there are several, the one of the widest kind. */
export async function findStop(
  db: Db,
  { keyId, names }: StopSubject,
): Promise<DatedStop | undefined> {
  return await db.first<DatedStop>(
    `SELECT kind, name, reason, stopped_at FROM governance_stops
     WHERE kind = 'all' OR kind = 'key' AND name = $1 OR kind = 'tool' AND name = ANY ($2)
     ORDER BY array_position(ARRAY['all', 'key', 'tool'], kind) LIMIT 1`,
    [keyId, names],
  );
}

/** Stops calls, from the next one on. @returns false where this stop is set already */
export async function addStop(db: Db, { kind, name, reason }: Stop): Promise<boolean> {
  return await db.execute(
    `INSERT INTO governance_stops (kind, name, reason) VALUES ($1, $2, $3)
     ON CONFLICT (kind, name) DO NOTHING`,
    [kind, name, reason],
  ) > 0;
}

/** Removes a stop. @returns false where it was not set */
export async function removeStop(
  db: Db,
  { kind, name }: Pick<Stop, "kind" | "name">,
): Promise<boolean> {
  return await db.execute(
    "DELETE FROM governance_stops WHERE kind = $1 AND name = $2",
    [kind, name],
  ) > 0;
}

/** Lists all stops, oldest first. */
export async function listStops(db: Db): Promise<DatedStop[]> {
  return await db.query<DatedStop>(
    "SELECT kind, name, reason, stopped_at FROM governance_stops ORDER BY stopped_at",
  );
}

const RECORD_DECISIONS = {
  name: "record_decisions",
  text: "SELECT record_decisions($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
};

/**
 * Puts decisions about calls of any tenants on record, any number with one statement, together with the receipts that are requested for them.
 *
 * @param receipts the arguments of `request_seals()`, in which no id may be taken yet
 */
export async function recordDecisions(
  db: Db,
  decisions: readonly DecisionRecord[],
  receipts: readonly unknown[],
): Promise<void> {
  if (decisions.length > 0) {
    await db.execute(RECORD_DECISIONS, [JSON.stringify(decisions), ...receipts]);
  }
}

/** Returns a decision, or undefined. */
export async function getDecision(
  db: Db,
  id: string,
): Promise<
  | Pick<DecisionRecord, "keyId" | "rule" | "reasons" | "callerApproves" | "policyVersion">
  | undefined
> {
  return await db.first(
    `SELECT key_id AS "keyId", rule, reasons, caller_approves AS "callerApproves", policy_version AS "policyVersion"
     FROM governance_decisions WHERE id = $1`,
    [id],
  );
}

/** Selects decisions; a field that is left out matches everything. */
export interface DecisionSearch {
  readonly decision?: Decision;
  readonly tool?: string;
  readonly approvalId?: string;
  readonly limit: number;
}

/** Columns of a {@linkcode ListedDecision}. */
export const DECISION_COLUMNS =
  `id, at, tenant_id AS tenant, key_id AS "keyId", principal, door, tool, operation, effect, decision, rule, reasons,
   caller_approves AS "callerApproves", policy_version AS "policyVersion", dry_run AS "dryRun", approval_id AS "approvalId",
   receipt_id AS "receiptId", call_receipt_id AS "callReceiptId"`;

/** Lists decisions, newest first. */
export async function listDecisions(
  db: Db,
  { decision, tool, approvalId, limit }: DecisionSearch,
): Promise<ListedDecision[]> {
  return await db.query<ListedDecision>(
    `SELECT ${DECISION_COLUMNS} FROM governance_decisions
     WHERE ($1::text IS NULL OR decision = $1) AND ($2::text IS NULL OR tool = $2)
       AND ($3::text IS NULL OR approval_id = $3)
     ORDER BY at DESC, id LIMIT $4`,
    [decision, tool, approvalId, limit],
  );
}

/** Figures about the decisions of a tenant. */
export interface DecisionFigures {
  readonly total: number;
  /** Null: there are none. */
  readonly newestAt: Date | null;
  /** Decisions of the last 24 hours. */
  readonly counts: Readonly<Record<Decision, number>>;
}

/** Counts decisions: all, and those of the last 24 hours by their result. */
export async function getDecisionFigures(db: Db): Promise<DecisionFigures> {
  const row = await db.first(
    `SELECT count(*)::int AS total, max(at) AS newest_at,
       count(*) FILTER (WHERE recent AND decision = 'allow')::int AS allow,
       count(*) FILTER (WHERE recent AND decision = 'needs_approval')::int AS needs_approval,
       count(*) FILTER (WHERE recent AND decision = 'deny')::int AS deny
     FROM (SELECT at, decision, at > now() - interval '1 day' AS recent FROM governance_decisions) d`,
  );
  const { total, newest_at, allow, needs_approval, deny } = row!;
  return { total, newestAt: newest_at, counts: { allow, needs_approval, deny } };
}
