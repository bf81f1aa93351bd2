/** Approvals: asking people, and their decisions. @module */
import { approvalInfo, approvalList } from "./approvals.ts";
import { approvalGroup, approvalGroups } from "./groups.ts";
import { approvalContext } from "./context.ts";
import { createApproval } from "./create.ts";
import { offerInstead } from "./offer.ts";
import { approveRequest, denyRequest, reopenRequest } from "./decisions.ts";

export { ApprovalId, approvalOwner, ApprovalStatus } from "./_approval.ts";
export type { ApprovalDetails } from "./approvals.ts";

/** Operations of this folder. */
export const approvalOperations = [
  approvalList,
  createApproval,
  approvalInfo,
  approvalContext,
  approvalGroups,
  approvalGroup,
  approveRequest,
  denyRequest,
  reopenRequest,
  offerInstead,
];
