import { ApplicationFailure } from "@temporalio/workflow";
import type { ApprovalState } from "../contract/domain/mod.ts";

/** @throws {ApplicationFailure} `Conflict`: the approval is no longer pending */
export function assertPending(approvalId: string, status: ApprovalState["status"]): void {
  if (status === "pending") return;
  throw conflict(`Approval ${approvalId} is ${status}, and only a pending one can be decided`);
}

/** @throws {ApplicationFailure} `Conflict`: the approval was neither denied nor has expired */
export function assertReopenable(approvalId: string, status: ApprovalState["status"]): void {
  if (status === "denied" || status === "expired") return;
  throw conflict(
    `Approval ${approvalId} is ${status}, and only one that was denied or has expired can be reopened`,
  );
}

function conflict(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: "Conflict", message, nonRetryable: true });
}
