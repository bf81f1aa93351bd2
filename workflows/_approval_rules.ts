import { ApplicationFailure } from "@temporalio/workflow";
import type { ApprovalRequest, ApprovalState, Voice } from "./types.ts";

/** Which approval it is, and who asks. */
type Asked = Pick<ApprovalRequest, "approval_id" | "requested_by">;

/** @throws {ApplicationFailure} `Conflict` or `Forbidden`: this voice can't decide, and the caller is told why */
export function refuseDecision(
  { approval_id, requested_by }: Asked,
  status: ApprovalState["status"],
  voices: readonly Voice[],
  by: Voice,
): void {
  if (status !== "pending") {
    throw refusal(
      "Conflict",
      `Approval ${approval_id} is ${status}, and only a pending one can be decided`,
    );
  }
  refuseVoice(approval_id, requested_by, by);
  if (voices.some(({ principal }) => isSame(principal, by.principal))) {
    throw refusal(
      "Conflict",
      `The holder of this key has approved ${approval_id} already; it takes others too`,
    );
  }
}

/** @throws {ApplicationFailure} `Conflict` or `Forbidden`: it can't be reopened, or not by this voice */
export function refuseReopening(
  { approval_id, requested_by }: Asked,
  status: ApprovalState["status"],
  by: Voice,
): void {
  if (status !== "denied" && status !== "expired") {
    throw refusal(
      "Conflict",
      `Approval ${approval_id} is ${status}, and only one that was denied or has expired can be reopened`,
    );
  }
  refuseVoice(approval_id, requested_by, by);
}

function refuseVoice(approvalId: string, requestedBy: string, by: Voice): void {
  if (!by.may_approve) {
    throw refusal("Forbidden", "This key may not approve; that takes one issued with may_approve");
  }
  if (isSame(by.principal, requestedBy) || requestedBy === `key:${by.key_id}`) {
    throw refusal(
      "Forbidden",
      `Approval ${approvalId} was asked for by the holder of this key, and somebody else has to decide about it`,
    );
  }
}

/** One holder may have several keys, whose issuers may have spelled the name in several ways. */
function isSame(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

const plain = (name: string) => name.normalize("NFKC").trim().replace(/\s+/g, " ").toLowerCase();

function refusal(type: "Conflict" | "Forbidden", message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}
