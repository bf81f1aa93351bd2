import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { TIERS } from "../../contract/mod.ts";
import { listKeys } from "../../store/keys/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

/** Keys of all organizations. */
export const keyList = operation({
  name: "keys.list",
  group: "console",
  extension: true,
  summary: "List the API keys that are valid, oldest first",
  description: "The keys themselves are stored nowhere.",
  effect: "read",
  access: "admin",
  input: z.object({}),
  output: z.object({
    keys: z.array(z.object({
      key_id: z.string(),
      tenant: z.string(),
      tier: z.enum(TIERS),
      scope: z.enum(["full", "audit"]),
      principal: z.string(),
      may_approve: z.boolean(),
      created_at: Timestamp,
      expires_at: Timestamp.nullable().describe("null: never"),
      last_used_at: Timestamp.nullable().describe("Late by some seconds; null: never"),
    })),
  }),
  rest: { keys_list: "GET /v1/keys" },
  presentation: { untrusted: true },
  example: {
    input: {},
    output: {
      keys: [{
        key_id: "1f0c7b5a9d3e4820",
        tenant: "acme",
        tier: "partner",
        scope: "full",
        principal: "night-agent",
        may_approve: false,
        created_at: "2026-07-01T12:00:00.000Z",
        expires_at: null,
        last_used_at: null,
      }],
    },
  },
  async run(_, { store }) {
    const now = new Date();
    const keys = (await listKeys(store.asPlatform())).filter(({ revokedAt, expiresAt }) =>
      revokedAt === null && (expiresAt === null || expiresAt > now)
    );
    return {
      keys: keys.map((key) => ({
        key_id: key.id,
        tenant: key.tenant,
        tier: key.tier,
        scope: key.scope,
        principal: key.principal,
        may_approve: key.mayApprove,
        created_at: key.createdAt.toISOString(),
        expires_at: key.expiresAt?.toISOString() ?? null,
        last_used_at: key.lastUsedAt?.toISOString() ?? null,
      })),
    };
  },
});
