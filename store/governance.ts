import type { Queryable, Store } from "./connection.ts";
import { shared } from "./shared.ts";
import { type UsageCount, countOf, type Taking, takingOf, type Use } from "./limits.ts";
import type { AlikeCondition, Condition, Row } from "./row.ts";

/** What becomes of a call: it is done, people are asked, or it is refused. */
export type GovernanceDecision = "allow" | "needs_approval" | "deny";

/** A decision on a call, before it ran. */
export interface DecisionRecord {
  /** `GOV-` and 12 hex characters. */
  readonly id: string;
  readonly tenant: string;
  readonly keyId: string;
  readonly principal: string;
  readonly door: string;
  /** The name that the caller used: a tool's, or an operation id. */
  readonly tool: string;
  readonly operation: string;
  readonly effect: string;
  readonly decision: GovernanceDecision;
  /** The rule of the policy, or what else decided. */
  readonly rule: string;
  /** Sentences. */
  readonly reasons: readonly string[];
  readonly policyVersion: string;
  readonly dryRun: boolean;
  readonly approvalId: string | null;
  /** Of the decision itself. */
  readonly receiptId: string;
  /** Of how the call ended; null: the operation seals that itself. */
  readonly callReceiptId: string | null;
  /** Whether it is going to be run now, so that its end has to become known. */
  readonly runs: boolean;
  /** Lock that its process holds as long as it lives; null: it holds none. */
  readonly holder: number | null;
}

/** A decision as it is listed. */
export type ListedDecision = Omit<DecisionRecord, "holder" | "runs"> & { readonly at: Date };

/** A switch that stops calls. */
export interface Stop {
  readonly kind: "all" | "key" | "tool";
  /** Key id, or name of a tool or operation; of everything empty, or {@linkcode FILE_STOP}. */
  readonly name: string;
  readonly reason: string;
}

/** Name of the switch that stops everything while there is no policy that could be read. */
export const FILE_STOP = "governance-file";

/** All switches, and the policy's version. */
export interface GovernanceInForce {
  /** Of all this, a UUID: another one with each change. */
  readonly revision: string;
  /** 0: none was set. */
  readonly version: number;
  readonly stops: readonly Stop[];
}

/** What holds as of now. Calls that arrive together share one small query; none is told less than held when it came. */
export function governanceInForce(store: Store): Promise<GovernanceInForce> {
  let read = readers.get(store);
  if (!read) readers.set(store, read = shared(() => readInForce(store)));
  return read();
}

const readers = new WeakMap<Store, () => Promise<GovernanceInForce>>();

async function readInForce({ pool }: Store): Promise<GovernanceInForce> {
  const { rows: [row] } = await pool.query({
    name: "governance_in_force",
    text: "SELECT governance_in_force() AS in_force",
  });
  return row.in_force;
}

/** Whether a switch stops a call of a key by any of a tool's names. */
export function stopsCall({ kind, name }: Stop, keyId: string, names: readonly string[]): boolean {
  return kind === "all" || (kind === "key" ? name === keyId : names.includes(name));
}

/** What switches are held against: in whose name something is done, and what stops it by its names. */
export interface StopSubject {
  /** Null: in nobody's. */
  readonly keyId: string | null;
  /** Of tools and operations. */
  readonly names: readonly string[];
}

/** Condition on rows of `governance_stops`, with the values of {@linkcode stoppingBy}. */
export const STOPPING =
  "(kind = 'all' OR kind = 'key' AND name = ? OR kind = 'tool' AND name = ANY(?))";

/** Values of {@linkcode STOPPING}. */
export const stoppingBy = ({ keyId, names }: StopSubject): [string, string[]] => [
  keyId ?? "",
  [...names],
];

/** The switch that stops something now, the widest where there are several; read from the database, never remembered. */
export async function findStop(
  on: Queryable,
  what: StopSubject,
): Promise<(Stop & { readonly stopped_at: Date }) | undefined> {
  return await on("governance_stops").whereRaw(STOPPING, stoppingBy(what)).orderBy("kind")
    .first();
}

/** What became of a call that was to be let in with its decision. */
export interface Entered {
  /** How its use was counted; absent: nothing of it was to be counted, or nothing yet. */
  readonly count?: UsageCount;
  /** What is in force in place of that by which it was decided; then nothing was counted, or written. */
  readonly inForce?: GovernanceInForce;
}

/** That a call was decided by what is in force, and is within its limit, of which it takes a use. */
export function lettingIn(
  inForce: GovernanceInForce,
  use: Use | undefined,
): { readonly condition: Condition; read(found: unknown): Entered } {
  const taking = use && takingOf(use);
  const { revision } = inForce;
  return {
    condition: {
      function: "let_in",
      value: { revision, use: taking ?? null },
      alike: taking && takingAlike(taking, revision),
    },
    read(found) {
      const { in_force, used = null } = (found ?? {}) as LetIn;
      if (in_force) return { inForce: in_force };
      return use && taking ? { count: countOf(use, taking, used) } : {};
    },
  };
}

/** That a call is within its limit, of which it takes a use, whatever is in force. */
export function countingIn(
  use: Use,
): { readonly condition: Condition; read(found: unknown): UsageCount } {
  const taking = takingOf(use);
  return {
    condition: { function: "let_in", value: { use: taking }, alike: takingAlike(taking) },
    read: (found) => countOf(use, taking, (found as LetIn).used ?? null),
  };
}

/** What `let_in` says where as many calls are the same, and there is room for all of them. */
function takingAlike({ subject, kind, start, limit }: Taking, revision?: string): AlikeCondition {
  const held = revision === undefined ? "" : "AND ? = (SELECT revision FROM governance_revision)";
  return {
    name: revision === undefined ? "use" : "use_by_revision",
    part: (many) => ({
      tables: `asked AS (
        INSERT INTO usage AS u (subject, kind, period_start, used)
        SELECT ?::text, ?::text, ?::timestamptz, ?::bigint WHERE ?::boolean ${held}
        ON CONFLICT (subject, kind, period_start)
        DO UPDATE SET used = u.used + excluded.used WHERE u.used + excluded.used <= ?::bigint
        RETURNING used
      )`,
      values: [
        ...[subject, kind, start, many, many <= limit],
        ...(revision === undefined ? [] : [revision]),
        limit,
      ],
    }),
    told: (asked, left): LetIn => ({ used: (asked as { used: number }).used - left }),
  };
}

/** What the function `let_in` tells of a call. */
interface LetIn {
  readonly in_force?: GovernanceInForce;
  readonly used?: number | null;
}

/** A decision as it is written down. What is allowed, and will be sealed when it ends, is open until it has. */
export function decisionRow(decision: DecisionRecord): Row {
  return {
    table: "governance_decisions",
    values: {
      id: decision.id,
      tenant: decision.tenant,
      key_id: decision.keyId,
      principal: decision.principal,
      door: decision.door,
      tool: decision.tool,
      operation: decision.operation,
      effect: decision.effect,
      decision: decision.decision,
      rule: decision.rule,
      reasons: decision.reasons,
      policy_version: decision.policyVersion,
      dry_run: decision.dryRun,
      approval_id: decision.approvalId,
      receipt_id: decision.receiptId,
      call_receipt_id: decision.callReceiptId,
      holder: decision.holder,
      settled: !(decision.runs && decision.callReceiptId !== null),
      traced: true,
    },
  };
}

/** What to list of a tenant's decisions; what is left out fits everything. */
export interface DecisionSearch {
  readonly tenant: string;
  readonly decision?: GovernanceDecision;
  readonly tool?: string;
  readonly approvalId?: string;
  readonly limit: number;
}

/** A tenant's decisions, newest first. */
export async function listDecisions(
  on: Queryable,
  { tenant, decision, tool, approvalId, limit }: DecisionSearch,
): Promise<ListedDecision[]> {
  const query = on("governance_decisions").where({ tenant });
  if (decision) query.where({ decision });
  if (tool) query.where({ tool });
  if (approvalId) query.where({ approval_id: approvalId });
  const rows = await query.orderBy("at", "desc").orderBy("id").limit(limit);
  return rows.map((row) => ({
    ...{ id: row.id, at: row.at, tenant: row.tenant, keyId: row.key_id, principal: row.principal },
    ...{ door: row.door, tool: row.tool, operation: row.operation, effect: row.effect },
    ...{ decision: row.decision, rule: row.rule, reasons: row.reasons, dryRun: row.dry_run },
    ...{ policyVersion: row.policy_version, approvalId: row.approval_id },
    ...{ receiptId: row.receipt_id, callReceiptId: row.call_receipt_id },
  }));
}

/** Stops calls, from the next one on. @returns false where that was so already */
export async function addStop(on: Queryable, { kind, name, reason }: Stop): Promise<boolean> {
  const added = await on("governance_stops").insert({ kind, name, reason })
    .onConflict(["kind", "name"]).ignore().returning("kind");
  return added.length > 0;
}

/** Lets calls go on. @returns false where they were not stopped */
export async function removeStop(
  on: Queryable,
  { kind, name }: Pick<Stop, "kind" | "name">,
): Promise<boolean> {
  return await on("governance_stops").where({ kind, name }).delete() > 0;
}

/** All switches that stop something. */
export async function listStops(on: Queryable): Promise<(Stop & { stopped_at: Date })[]> {
  return await on("governance_stops").orderBy("stopped_at");
}
