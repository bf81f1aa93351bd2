import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
} from "@temporalio/workflow";
import type { ApprovalRequest, ApprovalResult } from "../contract/domain/mod.ts";
import { inheritTenant } from "./_run.ts";
import { approval } from "./approval.ts";

/** Options of a child that outlives this run. */
export function outliving(workflowId: string) {
  return {
    workflowId,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    cancellationType: ChildWorkflowCancellationType.ABANDON,
    typedSearchAttributes: [inheritTenant()],
  };
}

/**
 * Asks people, and waits for as long as they may take. The approval ends with this run, as it would be granted in vain; but
 * for one that starts its run again.
 *
 * @param question for the Web UI
 */
export async function askPeople(
  request: ApprovalRequest,
  question: string,
): Promise<ApprovalResult> {
  return await executeChild(approval, {
    ...outliving(`approval-${request.approval_id}`),
    ...request.asking_run ? {} : { parentClosePolicy: ParentClosePolicy.TERMINATE },
    args: [request],
    staticSummary: question,
  });
}
