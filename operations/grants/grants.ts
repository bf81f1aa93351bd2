import { z } from "zod";
import { endGrant, makeGrant, MAX_GRANTED, proposeGrant } from "../../calls/grants/mod.ts";
import { operation, type Platform, siteOf } from "../../calls/mod.ts";
import type { Db } from "../../store/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import { type GrantRecord, listGrants } from "../../store/grants/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { listPasskeys } from "../../store/people/mod.ts";
import { ApprovalId, approvalOwner } from "../approvals/mod.ts";
import { namedTenant, refuseOtherTenant } from "../named_tenant.ts";
import { ChallengeId, exampleAssertion, Limit, PasskeyAnswer } from "../schemas/mod.ts";
import { exampleGrant, exampleTerms, Grant, GrantId, Terms, toGrant } from "./_grant.ts";

/** Longest time of a grant: 30 days. */
const MAX_SECONDS = 2_592_000;
const MAX_USES = 1_000;

const ApprovalIds = z.array(ApprovalId).min(1).max(MAX_GRANTED)
  .refine((ids) => new Set(ids).size === ids.length, "Expected each approval once")
  .describe("Approvals of one tenant, whose acts are to run without asking");

/** Standing grants. */
export const grantList = operation({
  name: "grants.list",
  group: "console",
  extension: true,
  summary: "List standing grants, newest first",
  effect: "read",
  access: "key",
  input: z.object({ limit: Limit.default(100) }),
  output: z.object({ grants: z.array(Grant) }),
  rest: { grants_list: "GET /v1/console/grants" },
  governance: { spansTenants: true },
  example: { input: {}, output: { grants: [exampleGrant] } },
  run: async ({ limit }, { store, spansTenants }) => {
    const tenants = spansTenants ? await listTenants(store.db) : [store.tenant];
    const found = await Promise.all(tenants.map(async (tenant) => {
      const db = store.asTenant(tenant);
      return await Promise.all((await listGrants(db, limit)).map((one) => shown(db, one)));
    }));
    const newest = found.flat().toSorted((a, b) => b.made_at.localeCompare(a.made_at));
    return { grants: newest.slice(0, limit) };
  },
});

/** Gives a grant to sign. */
export const grantStatement = operation({
  name: "grants.statement",
  group: "console",
  extension: true,
  summary: "Get a standing grant that your passkey signs",
  description:
    "It lets exactly the acts of these approvals run without asking, so often and until then. It takes as many people as " +
    "each of them. There is none of what the guardrails ask about, of what was denied, and of what you have asked for.",
  effect: "read",
  access: "session",
  input: z.object({
    approval_ids: ApprovalIds,
    max_uses: z.number().int().min(1).max(MAX_USES).describe("How often, all acts together"),
    expires_in_seconds: z.number().int().min(60).max(MAX_SECONDS).describe("30 days at most"),
  }),
  output: z.object({
    challenge_id: ChallengeId,
    challenge: z.string().describe("Base64url"),
    terms: Terms,
    rp_id: z.string().describe("Domain that the passkey is for"),
    credentials: z.array(z.string()).describe("Those of the person's passkeys, base64url"),
  }),
  rest: { grants_statement: "POST /v1/console/grants/statement" },
  presentation: { errors: ["NotFound", "Conflict", "Forbidden", "NotConfigured"] },
  governance: { ownerOf: ownerOfFirst },
  example: {
    input: { approval_ids: ["APR-5b1e09c77a42"], max_uses: 20, expires_in_seconds: 604_800 },
    output: {
      challenge_id: "00112233445566778899aabbccddeeff",
      challenge: "3q2-7wAA",
      terms: exampleTerms,
      rp_id: "localhost",
      credentials: ["q3mVx0GkT8Wm2bE1yRzN5A"],
    },
  },
  async run(wish, context) {
    const { store, caller } = context;
    const { rpId } = siteOf(context);
    const { id, challenge, terms } = await proposeGrant(context, wish);
    const passkeys = await listPasskeys(store.asTenant(caller.tenant), caller.principal);
    return {
      challenge_id: id,
      challenge,
      terms: { ...terms, acts: [...terms.acts] },
      rp_id: rpId,
      credentials: passkeys.map(({ credential_id }) => credential_id),
    };
  },
});

/** Makes a grant. */
export const grantMake = operation({
  name: "grants.make",
  group: "console",
  extension: true,
  summary: "Make a standing grant, by the answer of your passkey",
  description:
    "Where it takes more people, they are asked by an approval, and it allows nothing before. It ends with your key and " +
    "with the passkey that has signed it.",
  effect: "run",
  access: "session",
  input: z.object({ approval_ids: ApprovalIds, passkey: PasskeyAnswer }),
  output: Grant,
  rest: { grants_make: "POST /v1/console/grants" },
  presentation: {
    status: 201,
    errors: ["NotFound", "Conflict", "Forbidden", "NotConfigured", "Unavailable"],
  },
  governance: { rule: "key-decides", humanControl: true, unnamed: true, ownerOf: ownerOfFirst },
  durability: { sealsItself: true },
  example: {
    input: {
      approval_ids: ["APR-5b1e09c77a42"],
      passkey: { challenge_id: "00112233445566778899aabbccddeeff", assertion: exampleAssertion },
    },
    output: exampleGrant,
  },
  run: async ({ passkey }, context) =>
    await shown(context.store.db, await makeGrant(context, passkey)),
});

/** Revokes a grant. */
export const grantRevoke = operation({
  name: "grants.revoke",
  group: "console",
  extension: true,
  summary: "Revoke a standing grant, for good and at once",
  description: "Once it is answered, nothing runs by the grant that had not used it before.",
  effect: "write",
  access: "partner",
  input: z.object({
    grant_id: GrantId,
    tenant_id: z.string().max(100).optional().describe("Default: your own"),
  }),
  output: Grant,
  rest: { grants_revoke: "POST /v1/console/grants/{grant_id}/revoke" },
  presentation: { errors: ["NotFound", "Conflict"] },
  governance: {
    rule: "key-decides",
    humanControl: true,
    unnamed: true,
    ownerOf: namedTenant,
  },
  durability: { commits: true },
  example: {
    input: { grant_id: exampleGrant.grant_id },
    output: {
      ...exampleGrant,
      state: "revoked",
      revoked_at: "2026-07-02T12:00:00.000Z",
      revoked_by: "Ada",
    },
  },
  async run({ grant_id, tenant_id }, context) {
    refuseOtherTenant({ tenant_id }, context);
    return await context.commit(async (trx) =>
      toGrant(await endGrant(context, trx, grant_id), false)
    );
  },
});

async function shown(db: Db, grant: GrantRecord) {
  const approval = grant.approvalId && await getApproval(db, grant.approvalId);
  return toGrant(grant, approval ? approval.status === "approved" : false);
}

/** All are of the tenant of the first: others are not found. */
async function ownerOfFirst(
  { approval_ids: [approval_id] }: { readonly approval_ids: readonly string[] },
  parts: Pick<Platform, "store">,
): Promise<string | undefined> {
  return await approvalOwner({ approval_id: approval_id! }, parts);
}
