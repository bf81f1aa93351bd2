import { z } from "zod";
import { MAX_LISTED } from "../../calls/approvals/mod.ts";
import { operation } from "../../calls/mod.ts";
import { listApprovalGroups, listApprovalsOfGroup } from "../../store/approvals/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { namedTenant, refuseOtherTenant } from "../named_tenant.ts";
import { Limit, Sha256 } from "../schemas/mod.ts";
import { Approval, exampleApproval, toApproval } from "./_approval.ts";

/** Waiting approvals, alike ones together. */
export const approvalGroups = operation({
  name: "approvals.groups",
  group: "console",
  extension: true,
  summary: "List the groups of approvals that wait, the longest wait first",
  description: "Approvals of one group differ in nothing but what their actions are done to.",
  effect: "read",
  access: "key",
  input: z.object({ limit: Limit.default(100) }),
  output: z.object({
    waiting: z.number().int().describe("Number of approvals that wait, in these groups"),
    groups: z.array(z.object({
      group: Sha256,
      size: z.number().int().describe("Number of approvals in it that wait"),
      first: Approval.describe("The one that waits longest"),
    })),
  }),
  rest: { approvals_groups: "GET /v1/console/approvals/groups" },
  governance: { spansTenants: true },
  example: {
    input: {},
    output: {
      waiting: 1,
      groups: [{ group: exampleApproval.group, size: 1, first: exampleApproval }],
    },
  },
  run: async ({ limit }, { store, spansTenants }) => {
    const tenants = spansTenants ? await listTenants(store.db) : [store.tenant];
    const found = await Promise.all(
      tenants.map((tenant) => listApprovalGroups(store.asTenant(tenant), limit)),
    );
    const groups = found.flat().toSorted((a, b) => a.first.askedAt.localeCompare(b.first.askedAt))
      .slice(0, limit)
      .map(({ size, first }) => ({ group: first.actionGroup, size, first: toApproval(first) }));
    return { waiting: groups.reduce((sum, { size }) => sum + size, 0), groups };
  },
});

/** Approvals that wait for the same. */
export const approvalGroup = operation({
  name: "approvals.group",
  group: "console",
  extension: true,
  summary: "List the approvals of a group that wait, the longest wait first",
  description: `Those of one tenant; ${MAX_LISTED} at most.`,
  effect: "read",
  access: "key",
  input: z.object({
    group: Sha256,
    tenant_id: z.string().max(100).optional().describe("Default: your own"),
  }),
  output: z.object({ approvals: z.array(Approval) }),
  rest: { approvals_group: "GET /v1/console/approvals/groups/{group}" },
  presentation: { errors: ["NotFound"] },
  governance: { ownerOf: namedTenant },
  example: { input: { group: exampleApproval.group }, output: { approvals: [exampleApproval] } },
  async run({ group, tenant_id }, { store }) {
    refuseOtherTenant({ tenant_id }, { store });
    const found = await listApprovalsOfGroup(store.db, group, MAX_LISTED);
    return { approvals: found.map(toApproval) };
  },
});
