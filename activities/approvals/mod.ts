/**
 * Activities of approvals: open one, record its moves, and run the call that it allows.
 *
 * ```ts
 * const { openApproval, moveApproval } = approvalActivities(parts);
 * const { terms } = await openApproval({ ...request, run });
 * ```
 *
 * @module
 */
export { approvalActivities } from "./approvals.ts";
export { heldCallActivities } from "./held_calls.ts";
export { approvalKind } from "./open.ts";
