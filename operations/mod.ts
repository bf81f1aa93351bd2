/**
 * What the platform can do: described functions, which every door offers from the same definition.
 *
 * ```ts
 * const invoke = createPlatformInvoke(platform);
 * bindOperations(router, operations, invoke);
 * ```
 *
 * @module
 */
import type { Operation } from "../contract/mod.ts";
import { simulateAttack } from "./security/attacks.ts";
import { a2aDispatch, a2aHealth, a2aReceive } from "./a2a/a2a.ts";
import { cancelTask, sayInTask } from "./a2a/tasks.ts";
import { classify } from "./judgement/classify.ts";
import { approvalsApprove, approvalsDeny, approvalsReopen } from "./approvals/decisions.ts";
import { approvalsCreate, approvalsInfo, approvalsList } from "./approvals/approvals.ts";
import { cmdbQuery, cmdbStatus } from "./cmdb/query.ts";
import { cmdbImpact, cmdbPath } from "./cmdb/reach.ts";
import { governanceDecisions } from "./governance/decisions.ts";
import { dispatchCrew } from "./reasoning/crew.ts";
import { briefing, selfHealJournal } from "./platform/briefing.ts";
import { incidentDetails, recentIncidents } from "./tickets/recent_incidents.ts";
import { searchPlatformLogs } from "./platform/platform_logs.ts";
import { health, info } from "./platform/health.ts";
import { detect, detectors } from "./loops/detection.ts";
import { runLoop, runTest } from "./loops/runs.ts";
import {
  auditSummary,
  complianceScores,
  complianceStatus,
  complianceSummary,
} from "./compliance/scores.ts";
import { cbom } from "./compliance/cbom.ts";
import { grcControls, grcHealth, grcRisks, grcSummary } from "./compliance/grc.ts";
import { generateKey, revoke } from "./keys/keys.ts";
import { ledgerPage, receipt } from "./ledger/entries.ts";
import { approveItem, metrics, queue } from "./learning/learning.ts";
import type { Platform } from "../calls/platform.ts";
import { reason } from "./reasoning/reasoning.ts";
import { portCheck, ports } from "./platform/ports.ts";
import { auditPrompt, postmortemPrompt, triagePrompt } from "./platform/prompts.ts";
import { resourceIndex } from "./platform/resources.ts";
import { search, verifyAll, verifyOne } from "./ledger/receipts.ts";
import { approveFinding, scanQueue, triggerScan } from "./security/scans.ts";
import { seal, sealStatus } from "./ledger/seal.ts";
import { status, statusFresh, statusLive } from "./platform/status.ts";
import { dashboard, mttr, remediations } from "./tickets/figures.ts";
import { incidentTimeline, openIncidents } from "./tickets/incidents.ts";
import { embedReceipt, verifyTicket } from "./tickets/receipts.ts";
import { closeTicket, createTicket, readTicket, ticketList } from "./tickets/tickets.ts";
import { registerWebhook, webhookDeliveries } from "./webhooks/webhooks.ts";
import { cancelRun, listRuns, listTypes } from "./workflows/runs.ts";
import { startRun } from "./workflows/start.ts";
import { describeRun, runHistory, runResult } from "./workflows/run.ts";

import { validate } from "./judgement/validate.ts";
export { type Keyring, openKeyring } from "../calls/authenticate.ts";
export { type ActOrder, createRunAct, type RunAct } from "../calls/approved_calls.ts";
export { type IssuedKey, issueSealedKey, revokeSealedKey, rotateSealedKey } from "./key_acts.ts";
export type { Action } from "../calls/record.ts";
export { type Follower, followResources } from "./resource_changes.ts";
export { cancelTask, sayInTask };
export { type Held, newTask, type OpenCall } from "../calls/tasks/begin.ts";
export { createTaskCalls } from "../calls/tasks/task_calls.ts";
export { createTraceCall, type TraceCall } from "../calls/recover/traces.ts";
export { deliverUnheard } from "../calls/approvals/votes.ts";
export type { Opened, Sent } from "../calls/tasks/sent_messages.ts";
export { type TaskWatch, watchTasks } from "../calls/tasks/watch.ts";
export {
  createEntrance,
  createPlatformInvoke,
  type Entrance,
  type Platform,
} from "../calls/platform.ts";

/** Every operation of the platform. */
export const operations: readonly Operation<Platform>[] = [
  ...[info, health, status, statusLive, statusFresh],
  ...[ledgerPage, receipt, generateKey, revoke, ports, portCheck, classify, validate],
  ...[cmdbStatus, cmdbQuery, cmdbImpact, cmdbPath],
  ...[listRuns, listTypes, startRun, describeRun, runResult, runHistory, cancelRun],
  ...[
    runLoop,
    runTest,
    detect,
    detectors,
    ticketList,
    createTicket,
    readTicket,
    closeTicket,
    incidentTimeline,
  ],
  ...[embedReceipt, verifyTicket, mttr, remediations, dashboard, openIncidents],
  ...[registerWebhook, webhookDeliveries, governanceDecisions],
  ...[simulateAttack, scanQueue, approveFinding, triggerScan],
  ...[approvalsList, approvalsCreate, approvalsInfo],
  ...[approvalsApprove, approvalsDeny, approvalsReopen],
  ...[complianceScores, complianceSummary, complianceStatus, auditSummary, cbom],
  ...[queue, approveItem, metrics],
  ...[grcHealth, grcControls, grcRisks, grcSummary],
  ...[resourceIndex, triagePrompt, postmortemPrompt, auditPrompt],
  ...[searchPlatformLogs, briefing, selfHealJournal, recentIncidents, incidentDetails],
  ...[reason, dispatchCrew, a2aHealth, a2aReceive, a2aDispatch],
  ...[seal, sealStatus, verifyOne, verifyAll, search],
];

/** Those that an approval may be about: what agents say and take back has no door of its own. */
export const approvable: readonly Operation<Platform>[] = [...operations, sayInTask, cancelTask];
