import { settleLostCalls } from "../calls/recover/mod.ts";
import { wrapActivities } from "./_wrap.ts";
import {
  approvalActivities,
  endedApprovalActivities,
  heldCallActivities,
} from "./approvals/mod.ts";
import { crewActivities, diagnosisDraftActivities } from "./crew/mod.ts";
import { sandboxActivities, testServiceActivities } from "./drills/mod.ts";
import {
  anchorActivities,
  scrubActivities,
  sealActivities,
  sequencerActivities,
  type SequencerActivityParts,
} from "./ledger/mod.ts";
import {
  closeActivities,
  diagnoseActivities,
  endedRunActivities,
  probeActivities,
  remediateActivities,
  ticketActivities,
  undoActivities,
} from "./loop/mod.ts";
import type { ActivityParts } from "./parts.ts";
import { answerDraftActivities, reasoningActivities } from "./reasoning/mod.ts";
import { scanActivities } from "./security_scan.ts";
import { sweepActivities } from "./sweep.ts";
import { taskActivities } from "./tasks.ts";
import { webhookRelayActivities } from "./webhook_relay.ts";
import { webhookActivities } from "./webhooks.ts";

/** All activities, by the names that workflows call them by. */
export type Activities =
  & ReturnType<typeof createActivities>
  & ReturnType<typeof createSequencerActivities>;

/** Creates the activities of the sequencer's process. */
export function createSequencerActivities(parts: SequencerActivityParts) {
  return wrapActivities(sequencerActivities(parts));
}

/** Creates the activities of a worker. */
export function createActivities(parts: ActivityParts) {
  return wrapActivities({
    ...probeActivities(parts),
    ...ticketActivities(parts),
    ...diagnoseActivities(parts),
    ...remediateActivities(parts),
    ...undoActivities(parts),
    ...closeActivities(parts),
    ...endedRunActivities(parts),
    ...sweepActivities(parts),
    ...scanActivities(parts),
    ...testServiceActivities(parts),
    ...sandboxActivities(parts),
    ...sealActivities(parts),
    ...scrubActivities(parts),
    ...anchorActivities(parts),
    ...approvalActivities(parts),
    ...endedApprovalActivities(parts),
    ...heldCallActivities(parts),
    ...reasoningActivities(parts),
    ...answerDraftActivities(parts),
    ...crewActivities(parts),
    ...diagnosisDraftActivities(parts),
    ...taskActivities(parts),
    ...webhookActivities(parts),
    ...webhookRelayActivities(parts),
    /** Seals the end of calls whose process was killed. Safe to repeat: each call has one receipt of its end. */
    settleLostCalls: () => settleLostCalls(parts),
  });
}
