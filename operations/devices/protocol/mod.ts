/**
 * Devices: what they pin, how they enrol, how their requests are signed, how their heartbeats are answered, and what is
 * known of them.
 *
 * ```ts
 * const { trust } = await readDeviceRoots(store);
 * const script = await renderInstallScript({ organization, server, agentSha256, pins: trust, code });
 * const deviceId = readSigner(signed);
 * if (!verifySigned(signed, device.publicKey)) throw new Problem("Unauthenticated", …);
 * const answer = await answerHeartbeat({ store, watch, holder }, { deviceId, message, request, signal });
 * ```
 *
 * Trusts: what a device has signed, to be its own word. Doesn't trust: that only one program has its key.
 * @module
 */
export { agentRelease, renderInstallScript } from "./agent.ts";
export {
  type ApproverSignature,
  approversText,
  changeApprovers,
  signAsApprover,
} from "./approvers.ts";
export { mintCode, readCode, TENANT_TOKEN_DAYS } from "./enrolment_code.ts";
export { deviceIdOf, isProven } from "./enrolment.ts";
export { answerHeartbeat } from "./heartbeat.ts";
export { buildBatch, computeBatchRoot } from "./heartbeat_batch.ts";
export { INTERVAL_SECONDS } from "./heartbeat_answer.ts";
export { isRolledBack, judgeUsedCounter } from "./heartbeat_rules.ts";
export { isInventory, MAX_SECTIONS } from "./inventory.ts";
export { listBundles } from "./bundles.ts";
export {
  actionOfCommand,
  approvalText,
  type CommandAction,
  hashAction,
  toDeviceCommand,
} from "./command.ts";
export { sealStatement } from "./statements.ts";
export { readDeviceRoots } from "./trust.ts";
