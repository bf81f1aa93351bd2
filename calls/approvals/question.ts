import { canonicalize } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { type ApprovalRecord, type NewApproval, putApproval } from "../../store/approvals/mod.ts";
import type { Platform } from "../platform.ts";
import { bindAction, sha256 } from "./action.ts";

/** A question that a workflow of ours puts to people before it acts. */
export interface Question extends
  Pick<
    NewApproval,
    "id" | "subject" | "description" | "action" | "grounds" | "requestedBy" | "requestedByKey"
  > {
  /** Number of people who must approve; default: 1. */
  readonly needed?: number;
  /** Default: the setting `SEALOOP_APPROVAL_EXPIRES_SECONDS`. */
  readonly expiresInSeconds?: number;
}

/** A question that is stored, as the workflow of its approval takes it. */
export interface StoredQuestion {
  readonly approval_id: string;
  readonly action_sha256: string;
  readonly requested_by: string;
}

/** Stores a question about exactly one action. Safe to repeat: one that is there stays. */
export async function putQuestion(
  db: Db,
  { settings }: Pick<Platform["config"], "settings">,
  { needed = 1, expiresInSeconds, ...question }: Question,
): Promise<StoredQuestion> {
  const { id, action, requestedBy, requestedByKey } = question;
  const bound = bindAction(action, canonicalize(action));
  await putApproval(db, {
    ...question,
    ...bound,
    ticketId: null,
    needed,
    expiresInSeconds: expiresInSeconds ?? settings.SEALOOP_APPROVAL_EXPIRES_SECONDS,
    escalateAfterSeconds: settings.SEALOOP_APPROVAL_ESCALATE_SECONDS,
    askingRun: null,
  });
  return {
    approval_id: id,
    action_sha256: bound.actionSha256,
    requested_by: requestedByKey ? `key:${requestedByKey}` : requestedBy,
  };
}

/** Returns true if people have approved exactly this action. */
export function hasApproved(
  approval: ApprovalRecord | undefined,
  action: Readonly<Record<string, unknown>>,
): boolean {
  return approval?.status === "approved" && approval.actionSha256 === sha256(canonicalize(action));
}
