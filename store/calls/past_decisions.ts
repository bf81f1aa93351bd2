/** Decisions that were made: pages of those that match, counts of them, and the calls that they were about. */
import type { Decision } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";
import { DECISION_COLUMNS, type ListedDecision } from "./governance.ts";

/** Selects a page of decisions; a field that is left out matches everything. */
interface DecisionFilter {
  readonly decision?: Decision | undefined;
  readonly tool?: string | undefined;
  readonly rule?: string | undefined;
  readonly keyId?: string | undefined;
  readonly principal?: string | undefined;
  readonly limit: number;
  /** Id of a decision: only older ones, the newest of them first. */
  readonly olderThan?: string;
  /** Id of a decision: only newer ones, the oldest of them first. */
  readonly newerThan?: string;
}

const MATCHES = `SELECT ${DECISION_COLUMNS} FROM governance_decisions
  WHERE ($1::text IS NULL OR decision = $1) AND ($2::text IS NULL OR tool = $2) AND ($3::text IS NULL OR rule = $3)
    AND ($4::text IS NULL OR key_id = $4) AND ($5::text IS NULL OR principal = $5)`;
const OLDER = `${MATCHES}
  AND ($6::text IS NULL OR (at, id) < (SELECT at, id FROM governance_decisions WHERE id = $6))
  ORDER BY at DESC, id DESC LIMIT $7`;
const NEWER = `${MATCHES}
  AND (at, id) > (SELECT at, id FROM governance_decisions WHERE id = $6) ORDER BY at, id LIMIT $7`;

/** Returns a page of decisions that match, from one of its ends. */
export async function searchDecisions(
  db: Db,
  { decision, tool, rule, keyId, principal, limit, olderThan, newerThan }: DecisionFilter,
): Promise<ListedDecision[]> {
  const values = [decision, tool, rule, keyId, principal, newerThan ?? olderThan, limit];
  return await db.query<ListedDecision>(newerThan === undefined ? OLDER : NEWER, values);
}

/** How often calls were decided about, by what they have in common. */
interface DecisionCount {
  readonly by: "key" | "rule" | "tool";
  /** Id of the key, or name of the rule or the tool. */
  readonly name: string;
  /** Of a key: who holds it. */
  readonly principal: string | null;
  readonly allow: number;
  readonly needs_approval: number;
  readonly deny: number;
}

/** Counts decisions by key, by rule and by tool, most first. @param limit of each of the three */
export async function countDecisions(db: Db, since: Date, limit: number): Promise<DecisionCount[]> {
  return await db.query<DecisionCount>(
    `SELECT by, name, principal, allow, needs_approval, deny FROM (
       SELECT CASE WHEN grouping(key_id) = 0 THEN 'key' WHEN grouping(rule) = 0 THEN 'rule' ELSE 'tool' END AS by,
         coalesce(key_id, rule, tool) AS name,
         CASE WHEN grouping(key_id) = 0 THEN max(principal) END AS principal,
         count(*) FILTER (WHERE decision = 'allow')::int AS allow,
         count(*) FILTER (WHERE decision = 'needs_approval')::int AS needs_approval,
         count(*) FILTER (WHERE decision = 'deny')::int AS deny,
         row_number() OVER (PARTITION BY grouping(key_id, rule, tool) ORDER BY count(*) DESC) AS n
       FROM governance_decisions WHERE at >= $1 AND NOT dry_run
       GROUP BY GROUPING SETS ((key_id), (rule), (tool))
     ) counted WHERE n <= $2 ORDER BY by, n`,
    [since, limit],
  );
}

/** A decision with the arguments of its call. */
type PastDecision = ListedDecision & {
  /** Canonical JSON; null: only calls that waited for people have theirs kept. */
  readonly input: string | null;
};

/** Returns the newest decisions from a time on, newest first, without dry runs. @param limit > 0 */
export async function listPastDecisions(
  db: Db,
  since: Date,
  limit: number,
): Promise<PastDecision[]> {
  return await db.query<PastDecision>(
    `SELECT d.*, h.input FROM (
       SELECT ${DECISION_COLUMNS} FROM governance_decisions
       WHERE at >= $1 AND NOT dry_run ORDER BY at DESC LIMIT $2
     ) d LEFT JOIN held_calls h ON h.decision_id = d.id ORDER BY d.at DESC`,
    [since, limit],
  );
}
