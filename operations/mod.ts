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
import { classify } from "./classify.ts";
import { approvalsApprove, approvalsDeny, approvalsReopen } from "./approval_decisions.ts";
import { approvalsCreate, approvalsInfo, approvalsList } from "./approvals.ts";
import { cmdbImpact, cmdbPath, cmdbQuery, cmdbStatus } from "./cmdb.ts";
import { health, info } from "./health.ts";
import { detect, detectors } from "./itsm_detection.ts";
import { runLoop, runTest } from "./itsm_runs.ts";
import { generateKey, revoke } from "./keys.ts";
import { ledgerPage, receipt } from "./ledger.ts";
import type { Platform } from "./platform.ts";
import { portCheck, ports } from "./ports.ts";
import { search, verifyAll, verifyOne, verifyTicket } from "./receipts.ts";
import { seal, sealStatus } from "./seal.ts";
import { status, statusFresh, statusLive } from "./status.ts";
import {
  closeTicket,
  createTicket,
  dashboard,
  embedReceipt,
  mttr,
  openIncidents,
  readTicket,
  remediations,
  ticketList,
  timeline,
} from "./tickets.ts";
import {
  cancelRun,
  describeRun,
  listRuns,
  listTypes,
  runHistory,
  runResult,
  startRun,
} from "./workflows.ts";

export { type Keyring, openKeyring } from "./_authentication.ts";
export { createEntrance, createPlatformInvoke, type Entrance, type Platform } from "./platform.ts";

/** Every operation of the platform. */
export const operations: readonly Operation<Platform>[] = [
  ...[info, health, status, statusLive, statusFresh],
  ...[ledgerPage, receipt, generateKey, revoke, ports, portCheck, classify],
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
    timeline,
  ],
  ...[embedReceipt, verifyTicket, mttr, remediations, dashboard, openIncidents],
  ...[approvalsList, approvalsCreate, approvalsInfo],
  ...[approvalsApprove, approvalsDeny, approvalsReopen],
  ...[seal, sealStatus, verifyOne, verifyAll, search],
];
