import { isSamePrincipal, Problem } from "../../contract/mod.ts";
import type { Db } from "../../store/mod.ts";
import type { ApprovalRecord, Approver, VoteMove } from "../../store/approvals/mod.ts";
import { findValidKeys, type KeyRecord } from "../../store/keys/mod.ts";

/** Returns whether a key may decide about an approval: one of its tenant, or of tier admin. */
function concerns(
  key: Pick<KeyRecord, "tenant" | "tier">,
  { tenant }: Pick<ApprovalRecord, "tenant">,
): boolean {
  return tenant === key.tenant || key.tier === "admin";
}

/** Returns the approvals that count now, as their keys are valid and may approve, and the ids of the other keys. */
export async function countedApprovers(
  db: Db,
  { approvers }: Pick<ApprovalRecord, "approvers">,
): Promise<{ readonly counted: Approver[]; readonly notCounted: string[] }> {
  const keys = await findValidKeys(db, approvers.map(({ key_id }) => key_id));
  const may = new Set(keys.filter(({ mayApprove }) => mayApprove).map(({ id }) => id));
  return {
    counted: approvers.filter(({ key_id }) => may.has(key_id)),
    notCounted: approvers.map(({ key_id }) => key_id).filter((id) => !may.has(id)),
  };
}

/**
 * Returns why a key's vote can't become a move; undefined: it can.
 *
 * @param key undefined: it is not valid any more
 * @param counted approvals that count now
 */
export function voteRefusal(
  approval: ApprovalRecord,
  move: VoteMove,
  key: KeyRecord | undefined,
  counted: readonly Approver[],
): Problem | undefined {
  const { id, status, requestedBy, requestedByKey } = approval;
  // A pending one is reopened where its run was ended from outside; else its run refuses that.
  if (move === "reopened" ? status === "approved" : status !== "pending") {
    const which = move === "reopened"
      ? "one that was denied or has expired can be reopened"
      : "a pending one can be decided";
    return new Problem("Conflict", `Approval ${id} is ${status}, and only ${which}`);
  }
  if (!key) return new Problem("Forbidden", "This key was revoked or has expired");
  if (!key.mayApprove) return mayNotApprove(id);
  if (!concerns(key, approval)) {
    return new Problem(
      "Forbidden",
      `Another tenant asks about ${id}; it takes a key of that tenant that was issued with may_approve, or one of ` +
        "tier admin",
    );
  }
  if (isSamePrincipal(key.principal, requestedBy) || key.id === requestedByKey) {
    return new Problem(
      "Forbidden",
      `Approval ${id} was asked for by the holder of this key, and somebody else has to decide about it`,
    );
  }
  if (counted.some(({ principal }) => isSamePrincipal(principal, key.principal))) {
    return new Problem(
      "Conflict",
      `The holder of this key has approved ${id} already; it takes others too`,
    );
  }
  return undefined;
}

/**
 * Returns why a key alone does not approve; undefined: it does.
 *
 * @param gateway address where passkeys approve; default: none is known
 */
export function passkeyRefusal(
  { id, grounds }: Pick<ApprovalRecord, "id" | "grounds">,
  gateway = "the gateway's ",
): Problem | undefined {
  if (!grounds.passkey) return undefined;
  return new Problem(
    "Forbidden",
    `A key alone does not approve ${id}: its rule, ${grounds.rule}, takes a passkey. ` +
      `Its page: ${gateway}/console/approvals/${id}`,
  );
}

/** Returns the refusal of a key that may not approve. */
export function mayNotApprove(id: string): Problem {
  return new Problem(
    "Forbidden",
    `This key may not decide about ${id}; that takes one issued with may_approve`,
  );
}
