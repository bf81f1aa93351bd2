/**
 * Workflows: what must survive a crash. They are deterministic and do no I/O. Clients start them by their names in
 * `contract/domain/`.
 *
 * ```ts
 * const options = { taskQueue: TASK_QUEUE.itsm, workflowId: `loop-${fingerprint}`, args: [finding] };
 * await client.workflow.start(WORKFLOW.itsmLoop, options);
 * ```
 *
 * @module
 */
export { a2aSkill } from "./a2a_skill.ts";
export { a2aTask } from "./a2a_task.ts";
export { anchorBatch, anchorReceipts } from "./anchor.ts";
export { approval } from "./approval.ts";
export { attackSimulation } from "./attack.ts";
export { conversation } from "./conversation.ts";
export { crew } from "./crew.ts";
export { crmSequence } from "./crm_sequence.ts";
export { deviceDiscovery } from "./device_discovery.ts";
export { emailReply } from "./email_reply.ts";
export { deviceCommand } from "./device_command.ts";
export { governedAct } from "./governed_act.ts";
export { reconcileRuns } from "./housekeeping.ts";
export { itsmLoop } from "./itsm_loop.ts";
export { itsmSweep } from "./itsm_sweep.ts";
export { itsmTest } from "./itsm_test.ts";
export { notice, tellDue } from "./notice.ts";
export { outsideAct } from "./outside_act.ts";
export { peerMessage } from "./peer_message.ts";
export { mailbox } from "./mailbox.ts";
export { publish } from "./publish.ts";
export { reasoning } from "./reasoning.ts";
export { relay } from "./relay.ts";
export { routine } from "./routine.ts";
export { scrubLedger } from "./scrub.ts";
export { securityScan } from "./security_scan.ts";
export { seo, seoDeploy } from "./seo.ts";
export { sendEmail } from "./send_email.ts";
export { ledgerSequencer } from "./sequencer.ts";
export { speech } from "./speech.ts";
export { tenantSync } from "./tenant_sync.ts";
export { transcription } from "./transcription.ts";
export { video } from "./video.ts";
export { webhookDelivery } from "./webhook.ts";
