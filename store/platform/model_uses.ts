import type { Db } from "../connection.ts";

/** Days that uses of models and their sums are kept. */
const MODEL_USE_DAYS = 400;

/** A use of a model that is about to begin. */
export interface NewModelUse {
  /** `MDL-` and 12 hex characters. */
  readonly id: string;
  readonly keyId: string;
  readonly decisionId: string | undefined;
  /** Id of the receipt of its end. */
  readonly receiptId: string;
  readonly provider: string;
  readonly model: string;
  /** The most that it can cost. */
  readonly tokens: number;
  /** Millionths of a US dollar; null: its price is not known. */
  readonly micro: number | null;
  /** Seconds after which it counts as lost with its process. */
  readonly expiresSeconds: number;
}

/** A budget of a UTC day. */
export interface ModelBudget {
  /** Undefined: no limit. */
  readonly tokens?: number | undefined;
  /** Millionths of a US dollar. Undefined: no limit. */
  readonly micro?: number | undefined;
}

/** The budgets that a use counts against. */
export interface ModelBudgets {
  /** Budget of its key. */
  readonly key: ModelBudget;
  /** Budget of all keys of the tenant together. */
  readonly tenant: ModelBudget;
}

/** A use that has no room in a budget. */
class OverBudget extends Error {
  constructor(readonly budget: keyof ModelBudgets) {
    super(`The budget of the ${budget} is used up`);
  }
}

/**
 * Reserves the most that a use can cost in both budgets, and notes it: all or nothing, also among calls at the same time.
 *
 * @returns the budget that has no room for it; undefined: it may begin
 */
export async function reserveModelUse(
  db: Db,
  use: NewModelUse,
  budgets: ModelBudgets,
): Promise<keyof ModelBudgets | undefined> {
  try {
    await db.transaction(async (trx) => {
      // The tenant's row first, always, so that no two calls wait for each other.
      if (!await spend(trx, "", use, budgets.tenant)) throw new OverBudget("tenant");
      if (!await spend(trx, use.keyId, use, budgets.key)) throw new OverBudget("key");
      await trx.execute(
        `INSERT INTO model_uses
           (id, key_id, decision_id, receipt_id, provider, model, reserved_tokens, reserved_micro, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9))`,
        [
          use.id,
          use.keyId,
          use.decisionId ?? null,
          use.receiptId,
          use.provider,
          use.model,
          use.tokens,
          use.micro,
          use.expiresSeconds,
        ],
      );
    });
    return undefined;
  } catch (error) {
    if (error instanceof OverBudget) return error.budget;
    throw error;
  }
}

/** Adds to what is spent, if there is room. @returns false where there is none */
async function spend(
  trx: Db,
  subject: string,
  { tokens, micro }: NewModelUse,
  budget: ModelBudget,
): Promise<boolean> {
  return await trx.execute(
    `INSERT INTO model_spending AS s (subject, day, tokens, cost_micro)
       SELECT $1, (now() AT TIME ZONE 'UTC')::date, $2::bigint, $3::bigint
       WHERE ($4::bigint IS NULL OR $2 <= $4) AND ($5::bigint IS NULL OR $3 <= $5)
     ON CONFLICT (tenant_id, subject, day) DO UPDATE
       SET tokens = s.tokens + excluded.tokens, cost_micro = s.cost_micro + excluded.cost_micro
       WHERE ($4 IS NULL OR s.tokens + excluded.tokens <= $4)
         AND ($5 IS NULL OR s.cost_micro + excluded.cost_micro <= $5)`,
    [subject, tokens, micro ?? 0, budget.tokens ?? null, budget.micro ?? null],
  ) > 0;
}

/** End of a use of a model. */
export interface ModelUseEnd {
  readonly id: string;
  readonly outcome: string;
  /** The provider's name of it. */
  readonly model: string;
  /** Undefined: nobody knows what was used, and the reserve counts. */
  readonly used?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly micro: number | null;
  } | undefined;
}

/** Tokens and cost of a use. */
export interface ModelCharge {
  readonly tokens: number;
  readonly micro: number | null;
}

/**
 * Ends a use: its budgets get back what it did not use.
 *
 * @param trx a transaction
 * @returns what it has cost; undefined: it has ended before
 */
export async function settleModelUse(
  trx: Db,
  { id, outcome, model, used }: ModelUseEnd,
): Promise<ModelCharge | undefined> {
  const row = await trx.first<Settled>(
    `UPDATE model_uses SET state = 'settled', outcome = $2, model = $3, input_tokens = $4, output_tokens = $5,
       cost_micro = CASE WHEN $4::bigint IS NULL THEN reserved_micro ELSE $6::bigint END, ended_at = now()
     WHERE id = $1 AND state = 'reserved'
     RETURNING key_id, day::text, reserved_tokens, reserved_micro, cost_micro`,
    [
      id,
      outcome,
      model,
      used?.inputTokens ?? null,
      used?.outputTokens ?? null,
      used?.micro ?? null,
    ],
  );
  if (!row) return undefined;
  const reserved = Number(row.reserved_tokens);
  const tokens = used ? used.inputTokens + used.outputTokens : reserved;
  const micro = row.cost_micro === null ? null : Number(row.cost_micro);
  for (const subject of ["", row.key_id]) {
    await trx.execute(
      `UPDATE model_spending SET tokens = greatest(0, tokens + $3::bigint), cost_micro = greatest(0, cost_micro + $4::bigint)
       WHERE subject = $1 AND day = $2::date`,
      [subject, row.day, tokens - reserved, (micro ?? 0) - Number(row.reserved_micro ?? 0)],
    );
  }
  return { tokens, micro };
}

interface Settled {
  readonly key_id: string;
  readonly day: string;
  readonly reserved_tokens: string;
  readonly reserved_micro: string | null;
  readonly cost_micro: string | null;
}

/** A noted use of a model. */
export interface ModelUse {
  readonly id: string;
  readonly keyId: string;
  readonly decisionId: string | null;
  readonly receiptId: string;
  readonly provider: string;
  readonly model: string;
  readonly state: "reserved" | "settled";
}

/** Lists uses whose process has not ended them in time. At most 500. */
export async function listLostModelUses(db: Db): Promise<ModelUse[]> {
  return await db.query<ModelUse>(
    `SELECT id, key_id AS "keyId", decision_id AS "decisionId", receipt_id AS "receiptId", provider, model, state
     FROM model_uses WHERE state = 'reserved' AND expires_at < now() ORDER BY expires_at LIMIT 500`,
  );
}

/** Returns the use that a call began; undefined: it began none. */
export async function findModelUse(db: Db, decisionId: string): Promise<ModelUse | undefined> {
  return await db.first<ModelUse>(
    `SELECT id, key_id AS "keyId", decision_id AS "decisionId", receipt_id AS "receiptId", provider, model, state
     FROM model_uses WHERE decision_id = $1`,
    [decisionId],
  );
}

/** Returns what is spent and reserved today. @param subject id of a key; `""`: all keys of the tenant */
export async function getModelSpending(
  db: Db,
  subject: string,
): Promise<{ readonly tokens: number; readonly micro: number }> {
  const row = await db.first<{ tokens: string; cost_micro: string }>(
    `SELECT tokens, cost_micro FROM model_spending
     WHERE subject = $1 AND day = (now() AT TIME ZONE 'UTC')::date`,
    [subject],
  );
  return { tokens: Number(row?.tokens ?? 0), micro: Number(row?.cost_micro ?? 0) };
}

/** Deletes up to 1,000 uses that ended more than {@linkcode MODEL_USE_DAYS} ago, and sums of such days. */
export async function pruneModelUses(db: Db): Promise<void> {
  await db.execute(
    `DELETE FROM model_uses WHERE id IN (
       SELECT id FROM model_uses
       WHERE at < now() - make_interval(days => $1) AND state = 'settled' ORDER BY at LIMIT 1000
     )`,
    [MODEL_USE_DAYS],
  );
  await db.execute(
    "DELETE FROM model_spending WHERE day < (now() - make_interval(days => $1))::date",
    [MODEL_USE_DAYS],
  );
}
