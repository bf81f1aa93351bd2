import type { PendingApproval } from "../../operations/a2a/tasks/mod.ts";
import type { CallResult } from "../../contract/mod.ts";

/** Returns true where governance's own answer takes the place of the output: the call is held, or it was a dry run. */
export const isGovernanceAnswer = ({ governance }: CallResult): boolean =>
  governance?.answer !== undefined && governance.answer.kind !== "earlier";

/** Returns the approval that a call waits for. @returns undefined where it waits for none */
export function heldCallOf({ output, governance }: CallResult): PendingApproval | undefined {
  return governance?.answer?.kind === "held" ? heldCallIn(output) : undefined;
}

/** Returns the approval that a call waits for, by the output of the call. */
export function heldCallIn(output: unknown): PendingApproval | undefined {
  const { governance } = (output ?? {}) as { governance?: Record<string, unknown> };
  const approvalId = governance?.approval_id;
  if (typeof approvalId !== "string" || governance!.dry_run !== false) return undefined;
  return { approvalId, governance: governance! };
}
