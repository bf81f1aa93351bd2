import { Problem } from "../../contract/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  type ApprovalRecord,
  getApproval,
  type NewApproval,
  putApproval,
} from "../../store/approvals/mod.ts";
import type { Platform } from "../platform.ts";
import { isWorkersOwn } from "../server_calls.ts";
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
  /** Approval that its asker has denied, and offers this instead of; absent: none. */
  readonly insteadOf?: string | null;
}

/** A question that is stored, as the workflow of its approval takes it. */
export interface StoredQuestion {
  readonly approval_id: string;
  readonly action_sha256: string;
  readonly requested_by: string;
}

/**
 * Stores a question about exactly one action, as the worker. Safe to repeat: one that is there stays.
 *
 * @throws {Problem} `Conflict`: somebody has asked something else by its id
 */
export async function putQuestion(
  db: Db,
  { settings }: Pick<Platform["config"], "settings">,
  { needed = 1, expiresInSeconds, ...question }: Question,
): Promise<StoredQuestion> {
  const { id, action, requestedBy, requestedByKey } = question;
  const bound = bindAction(action, canonicalize(action));
  const asked = {
    ...question,
    ...bound,
    ticketId: null,
    needed,
    expiresInSeconds: expiresInSeconds ?? settings.SEALOOP_APPROVAL_EXPIRES_SECONDS,
    escalateAfterSeconds: settings.SEALOOP_APPROVAL_ESCALATE_SECONDS,
    askingRun: null,
  };
  await putApproval(db, asked);
  requireSame((await getApproval(db, id))!, asked);
  return {
    approval_id: id,
    action_sha256: bound.actionSha256,
    requested_by: requestedByKey ? `key:${requestedByKey}` : requestedBy,
  };
}

/** @throws {Problem} `Conflict`: an approval that is there is not the platform's own, or asks another thing, or fewer people */
export function requireSame(
  stored: ApprovalRecord,
  asked: Pick<NewApproval, "actionSha256" | "requestedByKey" | "needed">,
): void {
  const isSame = isAskedFor(stored, asked.actionSha256) && stored.needed >= asked.needed &&
    stored.requestedByKey === asked.requestedByKey;
  if (!isSame) throw new Problem("Conflict", `Approval ${stored.id} is about another action`);
}

/**
 * Returns true if people have approved exactly this action of the platform's own: the worker has asked them, and has shown
 * them no other.
 *
 * @param needed least number of people
 */
export function hasApproved(
  approval: ApprovalRecord | undefined,
  action: Readonly<Record<string, unknown>>,
  needed = 1,
): boolean {
  return approval?.status === "approved" && approval.approvers.length >= needed &&
    isAskedFor(approval, sha256(canonicalize(action)));
}

function isAskedFor(approval: ApprovalRecord, actionSha256: string): boolean {
  return isWorkersOwn(approval) && approval.actionSha256 === actionSha256 &&
    sha256(canonicalize(approval.action)) === actionSha256;
}
