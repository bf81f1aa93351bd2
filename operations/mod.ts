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
import { simulateAttack } from "./attacks.ts";
import { a2aDispatch, a2aHealth, a2aReceive } from "./a2a.ts";
import { cancelTask, sayInTask } from "./a2a_tasks.ts";
import { classify } from "./classify.ts";
import { approvalsApprove, approvalsDeny, approvalsReopen } from "./approval_decisions.ts";
import { approvalsCreate, approvalsInfo, approvalsList } from "./approvals.ts";
import { cmdbQuery, cmdbStatus } from "./cmdb.ts";
import { cmdbImpact, cmdbPath } from "./cmdb_reach.ts";
import { governanceDecisions } from "./governance_decisions.ts";
import { dispatchCrew } from "./crew.ts";
import { briefing, selfHealJournal } from "./briefing.ts";
import { incidentDetails, recentIncidents } from "./recent_incidents.ts";
import { searchPlatformLogs } from "./platform_logs.ts";
import { health, info } from "./health.ts";
import { detect, detectors } from "./itsm_detection.ts";
import { runLoop, runTest } from "./itsm_runs.ts";
import {
  auditSummary,
  complianceScores,
  complianceStatus,
  complianceSummary,
} from "./compliance.ts";
import { cbom } from "./cbom.ts";
import { grcControls, grcHealth, grcRisks, grcSummary } from "./grc.ts";
import { generateKey, revoke } from "./keys.ts";
import { ledgerPage, receipt } from "./ledger.ts";
import { approveItem, metrics, queue } from "./learning.ts";
import type { Platform } from "./platform.ts";
import { reason } from "./reasoning.ts";
import { portCheck, ports } from "./ports.ts";
import { auditPrompt, postmortemPrompt, triagePrompt } from "./prompts.ts";
import { resourceIndex } from "./resources.ts";
import { search, verifyAll, verifyOne } from "./receipts.ts";
import { approveFinding, scanQueue, triggerScan } from "./security.ts";
import { seal, sealStatus } from "./seal.ts";
import { status, statusFresh, statusLive } from "./status.ts";
import { dashboard, mttr, remediations } from "./itsm_figures.ts";
import { incidentTimeline, openIncidents } from "./incidents.ts";
import { embedReceipt, verifyTicket } from "./ticket_receipts.ts";
import { closeTicket, createTicket, readTicket, ticketList } from "./tickets.ts";
import { registerWebhook, webhookDeliveries } from "./webhooks.ts";
import { cancelRun, listRuns, listTypes } from "./workflows.ts";
import { startRun } from "./workflow_start.ts";
import { describeRun, runHistory, runResult } from "./workflow_runs.ts";

import { validate } from "./validate.ts";
export { type Keyring, openKeyring } from "./_authentication.ts";
export { type ActOrder, createRunAct, type RunAct } from "./acts.ts";
export { type IssuedKey, issueSealedKey, revokeSealedKey, rotateSealedKey } from "./key_acts.ts";
export type { Action } from "./_record.ts";
export { type Follower, followResources } from "./resource_changes.ts";
export { cancelTask, sayInTask };
export { type Held, newTask, type OpenCall } from "./a2a_begin.ts";
export { createTaskCalls } from "./task_calls.ts";
export { createTraceCall, type TraceCall } from "./_traces.ts";
export { deliverUnheard } from "./_voices.ts";
export type { Opened, Sent } from "./_sent_messages.ts";
export { type TaskWatch, watchTasks } from "./_task_watch.ts";
export { ENDS } from "../workflows/mod.ts";
export type { TaskMessage, TaskPart, TaskRecord, TaskState } from "../workflows/mod.ts";
export { createEntrance, createPlatformInvoke, type Entrance, type Platform } from "./platform.ts";

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
