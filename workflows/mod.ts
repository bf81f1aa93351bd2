/**
 * What must survive a crash: deterministic, without I/O of its own.
 *
 * ```ts
 * await client.workflow.start(ITSM_LOOP, { taskQueue: TASK_QUEUE.itsm, workflowId: `loop-${fingerprint}`, args: [finding] });
 * ```
 *
 * @module
 */
export { anchorBatch, anchorReceipts, type AnchorSweep } from "./anchor.ts";
export { approval, approvalQuery, approveUpdate, denyUpdate, reopenUpdate } from "./approval.ts";
export { type AttackRequest, type AttackResult, attackSimulation } from "./attack.ts";
export { governedAct } from "./governed_act.ts";
export { crew, reportsQuery } from "./crew.ts";
export * from "./crew_types.ts";
export { ledgerSequencer, reconcileRuns, sealRequest } from "./housekeeping.ts";
export { foundAgain, itsmLoop } from "./itsm_loop.ts";
export { itsmSweep, type SweepResult } from "./itsm_sweep.ts";
export { itsmTest, type TestRequest } from "./itsm_test.ts";
export { securityScan } from "./security_scan.ts";
export { a2aSkill } from "./a2a_skill.ts";
export { ruledSignal } from "./_ruled.ts";
export { a2aTask, cancelUpdate, sayUpdate } from "./a2a_task.ts";
export * from "./a2a_types.ts";
export { nodesQuery, reasoning } from "./reasoning.ts";
export * from "./reasoning_types.ts";
export * from "./written_types.ts";
export { scrubLedger } from "./scrub.ts";
export { webhookDelivery, webhookRelay } from "./webhook.ts";
export { type Progress, progressQuery } from "./_track.ts";
export * from "./types.ts";
