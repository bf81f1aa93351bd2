import type { RepairRequest } from "../activities/mod.ts";
import { type ApprovalResult, LOOP_ACTOR, type Permission } from "../contract/domain/mod.ts";
import { askPeople } from "./_ask_people.ts";
import type { Track } from "./_track.ts";

/** People's decision about a repair. */
export interface RepairApproval {
  readonly approvalId: string;
  readonly status: ApprovalResult["status"];
  /** True: it was denied, and another repair is offered instead. */
  readonly offered: boolean;
}

/** Asks people to approve a repair, and waits for as long as they may take. The approval outlives this run. */
export async function askAboutRepair(
  run: Track,
  { finding, action, ticket_id, run: asking }: RepairRequest,
  { requested_by }: Permission,
): Promise<RepairApproval> {
  const approvalId = `APR-${action.id.slice(0, 12)}`;
  const { id: _, sha256: action_sha256, ...shown } = action;
  run.showApproval(approvalId);
  const { status, offered = false } = await askPeople({
    approval_id: approvalId,
    subject: ticket_id,
    action_sha256,
    requested_by: requested_by ?? LOOP_ACTOR,
    ticket_id,
    action: shown,
    asking_run: { ...asking, finding },
  }, `${action.runbook} for ${action.service}?`);
  run.showApproval(undefined);
  return { approvalId, status, offered };
}
