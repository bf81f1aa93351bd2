import { z } from "zod";
import { checkNewKey, issueSealedKey, operation, revokeSealedKey } from "../../calls/mod.ts";
import { InvalidInput, Problem, TIERS } from "../../contract/mod.ts";
import { hashKey, type NewKey } from "../../store/keys/mod.ts";
import { DateTime, Timestamp } from "../schemas/mod.ts";

const KeyScope = z.enum(["full", "audit"]);

const KeyInput = z.object({
  tenant: z.string().trim().min(1).max(200).describe("Organization that the key is for"),
  tier: z.enum(TIERS).exclude(["admin"]),
  scope: KeyScope.default("full").describe(
    "full: all tools; audit: the read-only tools of an audit, and reading over REST",
  ),
  principal: z.string().trim().min(1).max(200).optional().describe(
    "Person or agent that holds the key; default: the tenant",
  ),
  may_approve: z.boolean().default(false).describe("True: the holder may approve repairs"),
  expires_at: DateTime.optional().describe("When the key expires; default: never"),
});

/** Issues a key. The answer is the only place where the key can ever be read. */
export const generateKey = operation({
  name: "keys.generate",
  group: "core",
  summary: "Issue an API key",
  description: "The key can be read only in this answer, as the platform stores its hash alone.",
  effect: "write",
  access: "admin",
  input: KeyInput,
  output: z.object({
    api_key: z.string().nullable().describe(
      "The key; null in an answer that repeats the first by its idempotency key",
    ),
    tenant: z.string(),
    tier: z.enum(TIERS),
    key_id: z.string().describe("Public id, 16 hex characters: in receipts, and for revoking"),
    scope: KeyScope,
    principal: z.string(),
    may_approve: z.boolean(),
    expires_at: Timestamp.nullable(),
  }),
  rest: { keys_generate: "POST /v1/keys/generate" },
  presentation: { shownOnce: ["api_key"] },
  governance: {
    rule: "key-decides",
    check(input) {
      checkNewKey(toNewKey(input));
      return Promise.resolve();
    },
  },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: { tenant: "acme", tier: "partner" },
    output: {
      api_key: "slp_partner_…",
      tenant: "acme",
      tier: "partner",
      key_id: "1f0c7b5a9d3e4820",
      scope: "full",
      principal: "acme",
      may_approve: false,
      expires_at: null,
    },
  },
  run: async (input, { caller, commit }) =>
    await commit(async (db) => {
      const actor = `key:${caller.keyId}`;
      const { key, record } = await issueSealedKey({ db }, actor, toNewKey(input));
      return {
        api_key: key,
        tenant: record.tenant,
        tier: record.tier,
        key_id: record.id,
        scope: record.scope,
        principal: record.principal,
        may_approve: record.mayApprove,
        expires_at: record.expiresAt?.toISOString() ?? null,
      };
    }),
});

function toNewKey(
  { tenant, tier, scope, principal = tenant, may_approve, expires_at }: z.output<typeof KeyInput>,
): NewKey {
  const expiresAt = expires_at ? new Date(expires_at) : null;
  return { tenant, tier, scope, principal, mayApprove: may_approve, expiresAt };
}

/** Revokes a key. This process refuses it at once, others as soon as they are notified. */
export const revokeKey = operation({
  name: "keys.revoke",
  group: "core",
  summary: "Revoke an API key permanently",
  effect: "write",
  access: "admin",
  input: z.object({
    key_id: z.string().regex(/^[0-9a-f]{16}$/, "Expected the 16 hex characters of a key id")
      .optional().describe("Public id of the key; send this or api_key"),
    api_key: z.string().min(1).max(200).optional().describe(
      "The key itself, where its id is not known",
    ),
  }),
  output: z.object({ key_id: z.string(), revoked: z.literal(true) }),
  rest: { keys_revoke: "POST /v1/keys/revoke" },
  presentation: { errors: ["NotFound", "Conflict"] },
  governance: { rule: "key-decides", humanControl: true },
  durability: { sealsItself: true, commits: true },
  example: {
    input: { key_id: "1f0c7b5a9d3e4820" },
    output: { key_id: "1f0c7b5a9d3e4820", revoked: true },
  },
  run: async ({ key_id, api_key }, { keyring, caller, commit }) => {
    if ((key_id === undefined) === (api_key === undefined)) {
      const msg = "Send either key_id or api_key";
      throw new InvalidInput([{ path: ["key_id"], msg, type: "value_error" }]);
    }
    const id = key_id ?? hashKey(api_key!).toString("hex").slice(0, 16);
    if (id === caller.keyId) {
      throw new Problem("Conflict", "A key cannot revoke itself; use another key of tier admin");
    }
    const answer = await commit(async (db) => {
      await revokeSealedKey({ store: { db } }, `key:${caller.keyId}`, id);
      return { key_id: id, revoked: true as const };
    });
    keyring.refresh();
    return answer;
  },
});
