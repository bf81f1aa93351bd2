/** The policy of the use of models: budgets, what is done with private data, and prices. */
import { z } from "zod";
import { type Caller, TIERS } from "../../../contract/mod.ts";
import { PRIVACY_MODES, type PrivacyMode } from "../../../contract/domain/mod.ts";
import { BadFile, readYaml } from "../../../integrations/files/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { currentPolicy } from "../../../store/calls/mod.ts";
import type { ModelBudget, ModelBudgets } from "../../../store/platform/mod.ts";
import { Prices } from "./prices.ts";

const Tenant = z.string().min(1).max(200);
const Budget = z.strictObject({
  tokens: z.number().int().min(0).max(1e15).optional().describe(
    "Tokens a UTC day, of prompts and answers",
  ),
  usd: z.number().min(0).max(1e9).optional().describe("US dollars a UTC day"),
}).describe("What is left out has no limit");

/** Budgets of each key while the file says nothing else. The free tier has none. */
const TIER_BUDGETS: Readonly<Record<Caller["tier"], z.output<typeof Budget>>> = {
  free: { tokens: 0 },
  partner: { tokens: 1_000_000, usd: 5 },
  enterprise: { tokens: 10_000_000, usd: 50 },
  admin: {},
};

const MODEL_FILE = z.strictObject({
  privacy: z.strictObject({
    default: z.enum(PRIVACY_MODES).default("mask"),
    tenants: z.record(Tenant, z.enum(PRIVACY_MODES)).default({}),
  }).prefault({}).describe(
    "What is done with private data: mask replaces it, block refuses the prompt or the answer. A caller can only tighten it",
  ),
  budgets: z.strictObject({
    tiers: z.partialRecord(z.enum(TIERS), Budget).default({}).describe("Of each key of a tier"),
    keys: z.record(z.string().regex(/^[0-9a-f]{16}$/, "Expected the id of a key"), Budget)
      .default({}).describe("Of single keys, by their ids, in place of their tier's"),
    tenants: z.record(Tenant, Budget).default({})
      .describe("Of all keys of a tenant together; * for all other tenants"),
  }).prefault({}),
  prices: Prices.default({}).describe(
    "Prices by provider and model, besides those that ship; * for all other models of the provider",
  ),
});

/** The policy as it is put in force. */
export type ModelPolicy = z.output<typeof MODEL_FILE>;

/** The policy in force. */
export interface ModelPolicyInForce {
  /** 0: no file was put in force. */
  readonly version: number;
  readonly policy: ModelPolicy;
}

/** Returns the JSON Schema of the file, for editors. */
export function modelFileSchema(): Record<string, unknown> {
  return {
    title: "The file of budgets for models of sealoop",
    ...z.toJSONSchema(MODEL_FILE, { io: "input" }),
  };
}

/** Reads the text of a file. @throws {BadFile} */
export function readModelPolicy(text: string): ModelPolicy {
  const read = readYaml(text, MODEL_FILE);
  if ("value" in read) return read.value;
  throw new BadFile(read.mistakes);
}

/** Returns the policy in force. */
export async function currentModelPolicy(db: Db): Promise<ModelPolicyInForce> {
  const stored = await currentPolicy(db, "model_policies");
  if (!stored) return { version: 0, policy: MODEL_FILE.parse({}) };
  return { version: stored.version, policy: MODEL_FILE.parse(stored.policy) };
}

/** Returns the budgets of a key and of its tenant. */
export function budgetsOf(
  { budgets }: ModelPolicy,
  { keyId, tier, tenant }: Pick<Caller, "keyId" | "tier" | "tenant">,
): ModelBudgets {
  const { keys, tiers, tenants } = budgets;
  const own = keyId !== null && Object.hasOwn(keys, keyId) ? keys[keyId] : undefined;
  return {
    key: toBudget(own ?? tiers[tier] ?? TIER_BUDGETS[tier]),
    tenant: toBudget(Object.hasOwn(tenants, tenant) ? tenants[tenant]! : tenants["*"] ?? {}),
  };
}

function toBudget({ tokens, usd }: z.output<typeof Budget>): ModelBudget {
  return { tokens, micro: usd === undefined ? undefined : Math.round(usd * 1e6) };
}

/** Returns what is done with private data of a tenant. */
export function privacyOf({ privacy }: ModelPolicy, tenant: string): PrivacyMode {
  return Object.hasOwn(privacy.tenants, tenant) ? privacy.tenants[tenant]! : privacy.default;
}
