/** Approvals: asking people, and their decisions. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { approvalsCreate, approvalsInfo, approvalsList } from "./approvals.ts";
import { approvalsApprove, approvalsDeny, approvalsReopen } from "./decisions.ts";

/** Operations of this folder. */
export const approvalOperations: readonly Operation<Platform>[] = [
  approvalsList,
  approvalsCreate,
  approvalsInfo,
  approvalsApprove,
  approvalsDeny,
  approvalsReopen,
];
