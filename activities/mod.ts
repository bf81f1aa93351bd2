/**
 * What workflows may do to the world. Each says what makes it safe to repeat.
 *
 * ```ts
 * const activities = createActivities({ ...platform, sequencerStore, runbooks, stopping });
 * await Worker.create({ activities, … });
 * ```
 *
 * @module
 */
import { beating } from "./_beating.ts";
import { failing } from "./_failures.ts";
import type { ActivityParts } from "./_parts.ts";
import { anchors } from "./anchor.ts";
import { approvals } from "./approvals.ts";
import { closing } from "./close.ts";
import { crewAgents } from "./crew.ts";
import { diagnosing } from "./diagnose.ts";
import { endedApprovals } from "./ended_approvals.ts";
import { endedRuns } from "./ended_runs.ts";
import { governedActs } from "./governed_acts.ts";
import { loopSteps } from "./loop_steps.ts";
import { settleLostCalls } from "../calls/recover/mod.ts";
import { remediation } from "./remediate.ts";
import { sandboxes } from "./sandbox.ts";
import { scrubbing } from "./scrub.ts";
import { sealing } from "./seal.ts";
import { securityScans } from "./security_scan.ts";
import { sequencing } from "./sequencer.ts";
import { sweeping } from "./sweep.ts";
import { testServices } from "./test_service.ts";
import { undoing } from "./undo.ts";
import { reasoningNodes } from "./reasoning.ts";
import { tasks } from "./tasks.ts";
import { webhooks } from "./webhooks.ts";
import { writers } from "./written.ts";

export type { ActivityParts } from "./_parts.ts";
export type { OpenBatches } from "./anchor.ts";
export type { Story } from "./close.ts";
export type { EndedApproval } from "./ended_approvals.ts";
export type { EndedRun } from "./ended_runs.ts";
export type { RepairOrder } from "./_effects.ts";
export type { RepairRequest } from "./permit.ts";
export type { FoundNow } from "./sweep.ts";

/** All activities, by the names that workflows call them by. */
export type Activities = ReturnType<typeof createActivities>;

/** Gives the activities their parts. */
export function createActivities(parts: ActivityParts) {
  const catalogue = parts.runbooks;
  return beating(failing({
    ...loopSteps(parts),
    ...diagnosing(parts, catalogue),
    ...remediation(parts, catalogue),
    ...undoing(parts, catalogue),
    ...closing(parts),
    ...endedRuns(parts),
    ...sealing(parts),
    ...sweeping(parts),
    ...testServices(parts),
    ...sandboxes(parts),
    ...securityScans(parts),
    ...sequencing(parts),
    ...anchors(parts),
    ...scrubbing(parts),
    ...approvals(parts),
    ...endedApprovals(parts),
    ...governedActs(parts),
    /** Seals the end of calls whose process was killed. Safe to repeat: each has one receipt of its end. */
    settleOpenCalls: () => settleLostCalls(parts),
    ...webhooks(parts),
    ...reasoningNodes(parts),
    ...crewAgents(parts),
    ...writers(parts),
    ...tasks(parts),
  }));
}
