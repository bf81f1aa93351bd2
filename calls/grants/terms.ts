import { randomBytes } from "node:crypto";
import { isSamePrincipal, Problem } from "../../contract/mod.ts";
import type { GrantTerms } from "../../contract/domain/mod.ts";
import { type ApprovalRecord, getHeldCall } from "../../store/approvals/mod.ts";
import { isFlagSet } from "../../store/platform/mod.ts";
import { existingApproval } from "../approvals/mod.ts";
import type { Context } from "../platform.ts";

/** Most approvals that a grant is made of. */
export const MAX_GRANTED = 100;

/** Terms that a person wants to allow. */
export interface GrantWish {
  readonly approval_ids: readonly string[];
  readonly max_uses: number;
  readonly expires_in_seconds: number;
}

/**
 * Returns what a grant would say that the caller makes of what people were asked about.
 *
 * @throws {Problem} `Forbidden`: the caller may not decide about it; `Conflict`: no grant stands for that
 */
export async function grantTermsOf(
  context: Pick<Context, "store" | "caller" | "operations">,
  { approval_ids, max_uses, expires_in_seconds }: GrantWish,
): Promise<GrantTerms> {
  const { store, caller } = context;
  const approvals: ApprovalRecord[] = [];
  for (const id of approval_ids) {
    const approval = await existingApproval(context, id);
    const refusal = mayNotGrant(context, approval) ?? await notGrantable(context, approval);
    if (refusal) throw refusal;
    approvals.push(approval);
  }
  const least = await isFlagSet(store.db, "require_two_approvers") ? 2 : 1;
  return {
    grant_id: `GRN-${randomBytes(6).toString("hex")}`,
    tenant_id: store.tenant,
    acts: approvals.map(({ id, action, actionSha256 }) => ({
      approval_id: id,
      what: whatOf(action),
      action_sha256: actionSha256,
    })),
    max_uses,
    expires_at: new Date(Date.now() + expires_in_seconds * 1_000).toISOString(),
    made_by: caller.principal,
    needed: Math.max(least, ...approvals.map(({ needed }) => needed)),
  };
}

/** Who may decide about an act may grant it: a person, and never the one who asks for it. */
function mayNotGrant(
  { caller }: Pick<Context, "caller">,
  { id, requestedBy, requestedByKey }: ApprovalRecord,
): Problem | undefined {
  if (!caller.session?.mayApprove) {
    return new Problem("Forbidden", "A grant takes a key issued with may_approve, and its passkey");
  }
  if (isSamePrincipal(caller.principal, requestedBy) || caller.keyId === requestedByKey) {
    return new Problem(
      "Forbidden",
      `${id} was asked for by you, and somebody else has to grant it`,
    );
  }
  return undefined;
}

/** Rules of approvals that people are asked by for a reason that a grant must not silence. */
const NOT_BY_RULES = new Set(["guardrails", "opa", "guardrails-away", "opa-away"]);
/** The one rule by which a runbook itself asks people. */
const BOUNDS_RULE = "runbook_bounds";

async function notGrantable(
  { store, operations }: Pick<Context, "store" | "operations">,
  { id, status, grounds: { rule }, askingRun }: ApprovalRecord,
): Promise<Problem | undefined> {
  const refuse = (why: string) => new Problem("Conflict", `${id} can't be granted: ${why}`);
  if (status === "denied" || status === "outdated") return refuse(`it is ${status}`);
  const held = await getHeldCall(store.db, id);
  const isCall = held !== undefined;
  if (held && operations.get(held.operation)?.governance?.resolveStableInput) {
    return refuse("what its arguments mean changes from call to call");
  }
  if (!isCall && !askingRun) return refuse("grants are about tools' calls and about repairs");
  const isByRule = isCall ? rule !== null && !NOT_BY_RULES.has(rule) : rule === BOUNDS_RULE;
  return isByRule
    ? undefined
    : refuse("it is the guardrails that ask, and no grant stands for them");
}

function whatOf({ tool, runbook, version, service }: ApprovalRecord["action"]): string {
  return tool === undefined ? `runbook ${runbook} ${version} for ${service}` : `tool ${tool}`;
}

/** Returns what others approve where a grant takes several people. */
export function actionOfGrant(terms: GrantTerms): Record<string, unknown> {
  return { kind: "standing_grant", grant: { ...terms } };
}
