/** One use of a model as it is counted and sealed: reserved before the model is asked, settled when it has ended. */
import { isDatabaseAway, Problem } from "../../../contract/mod.ts";
import { randomHex, requestSeal } from "../../../ledger/mod.ts";
import { countModelUse } from "../../../runtime/metrics/mod.ts";
import type { Db, Store } from "../../../store/mod.ts";
import { listTenants } from "../../../store/keys/mod.ts";
import {
  listLostModelUses,
  type ModelBudgets,
  type ModelCharge,
  type ModelUse,
  pruneModelUses,
  reserveModelUse,
  settleModelUse,
} from "../../../store/platform/mod.ts";
import { idOfCall } from "../../../calls/recover/mod.ts";
import { costOf, maxCostOf, type Price, type TokenCounts } from "./prices.ts";
import { retryInBackground } from "../../../calls/mod.ts";

/** Longest time of an answer, in seconds. */
export const MAX_ANSWER_SECONDS = 600;
/** A minute more than the longest answer: a use that is open then has no process any more. */
const EXPIRES_SECONDS = MAX_ANSWER_SECONDS + 60;
const DAY_MS = 86_400_000;

/** A use of a model that is allowed by its budgets. */
export interface ReservedUse extends Omit<ModelUse, "state"> {
  readonly price: Price | undefined;
}

/** A use of a model that is to be reserved. */
export interface UseOrder extends Pick<ModelUse, "provider" | "model" | "keyId"> {
  readonly decisionId: string | undefined;
  readonly price: Price | undefined;
  /** Most tokens of the prompt and of the answer. */
  readonly maxInput: number;
  readonly maxOutput: number;
}

/**
 * Reserves the most that a use can cost.
 *
 * @throws {Problem} `Forbidden`: there is no budget; `RateLimited`: no budget is left for it today
 */
export async function reserveUse(
  db: Db,
  { price, maxInput, maxOutput, decisionId, ...rest }: UseOrder,
  budgets: ModelBudgets,
): Promise<ReservedUse> {
  refuseWithoutBudget(budgets, price, rest.model);
  const receiptId = randomHex(16);
  const id = `MDL-${idOfCall(decisionId, 12)}`;
  const use = { ...rest, id, receiptId, decisionId };
  const over = await reserveModelUse(db, {
    ...use,
    tokens: maxInput + maxOutput,
    micro: maxCostOf(price, maxInput, maxOutput),
    expiresSeconds: EXPIRES_SECONDS,
  }, budgets);
  if (!over) return { ...use, decisionId: decisionId ?? null, price };
  const seconds = Math.ceil((DAY_MS - Date.now() % DAY_MS) / 1000);
  const whose = over === "key" ? "this key" : "your organization";
  throw new Problem(
    "RateLimited",
    `The budget of ${whose} has no room today for ${maxInput} tokens of prompt, at most, and ${maxOutput} of answer; ` +
      `lower max_tokens, or come back in ${seconds} seconds`,
    { headers: { "retry-after": String(seconds) } },
  );
}

function refuseWithoutBudget(
  budgets: ModelBudgets,
  price: Price | undefined,
  model: string,
): void {
  for (const { tokens, micro } of [budgets.key, budgets.tenant]) {
    if (tokens === 0 || micro === 0) {
      throw new Problem(
        "Forbidden",
        "There is no budget for models here; an operator gives one in sealoop.models.yaml",
      );
    }
    if (price || micro === undefined || tokens !== undefined) continue;
    throw new Problem(
      "Forbidden",
      `Cannot hold ${model} to a budget that is in money alone, as its price is not known; an operator adds the price or ` +
        "a budget of tokens to sealoop.models.yaml",
    );
  }
}

/** End of a use. */
export interface UseEnd {
  /** `answered`, `cancelled`, `withheld`, `cut_off`, … */
  readonly outcome: string;
  /** The provider's name of it. */
  readonly model: string;
  /** Undefined: nobody knows, and the reserve counts. */
  readonly counts: TokenCounts | undefined;
  /** Public details: codes and counts. */
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
  /** Private texts. */
  readonly evidence: Readonly<Record<string, unknown>>;
}

/**
 * Settles a use, and has its end sealed, together. While the database is away, that is repeated in the background.
 *
 * @returns what it has cost, as far as the caller can be told
 */
export async function settleUse(db: Db, use: ReservedUse, end: UseEnd): Promise<ModelCharge> {
  const micro = end.counts ? costOf(use.price, end.counts) : null;
  const settle = () => settleOnce(db, use, end, micro);
  try {
    const charge = await settle();
    if (charge) {
      countModelUse({
        provider: use.provider,
        outcome: end.outcome,
        inputTokens: end.counts?.input ?? 0,
        outputTokens: end.counts?.output ?? 0,
        costMicro: charge.micro,
      });
      return charge;
    }
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    void retryInBackground(settle, isDatabaseAway); // else a worker settles it at its reserve
  }
  return { tokens: end.counts ? end.counts.input + end.counts.output : 0, micro };
}

async function settleOnce(
  db: Db,
  { id, receiptId, keyId, decisionId, provider }: Omit<ModelUse, "state">,
  { outcome, model, counts, details, evidence }: UseEnd,
  micro: number | null,
): Promise<ModelCharge | undefined> {
  return await db.transaction(async (trx) => {
    const used = counts && { inputTokens: counts.input, outputTokens: counts.output, micro };
    const charge = await settleModelUse(trx, { id, outcome, model, used });
    if (!charge) return undefined;
    await requestSeal(trx, {
      id: receiptId,
      category: "model_call",
      actor: `key:${keyId}`,
      subject: id,
      action: `ai.${provider}`,
      outcome,
      details: {
        provider,
        model,
        input_tokens: counts?.input ?? null,
        output_tokens: counts?.output ?? null,
        tokens: charge.tokens,
        cost_micro: charge.micro,
        ...(decisionId ? { decision_id: decisionId } : {}),
        ...details,
      },
      evidence,
    });
    return charge;
  });
}

/**
 * Settles uses whose process was killed: what they used is not known, so all of their reserve counts. Safe to repeat.
 *
 * @returns how many there were
 */
export async function settleLostUses(store: Store): Promise<number> {
  let settled = 0;
  for (const tenant of await listTenants(store.asPlatform())) {
    settled += await settleUsesOfTenant(store.asTenant(tenant));
  }
  return settled;
}

async function settleUsesOfTenant(db: Db): Promise<number> {
  let settled = 0;
  for (const use of await listLostModelUses(db)) {
    const end = {
      outcome: "unknown",
      model: use.model,
      counts: undefined,
      details: { code: "process_ended" },
      evidence: {},
    };
    if (await settleOnce(db, use, end, null)) settled++;
  }
  await pruneModelUses(db);
  return settled;
}
