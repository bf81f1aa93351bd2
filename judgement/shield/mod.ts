/**
 * The shield: what devices are checked for, by a policy in versions, and how their facts decide each check.
 *
 * ```ts
 * const { version, policy } = await currentShieldPolicy(db);
 * const judged = judgeDevice(policy, readFacts(device, inventory, firewall), context);
 * const { passed, failed, unknown } = countChecks(judged);
 * ```
 *
 * Trusts: the operator who writes the policy. Doesn't trust: a device's facts, beyond that it claims them. What is not
 * known is never a pass.
 * @module
 */
export { type AgentFile, readAgent } from "./agent_file.ts";
export { type Check, firewallDrift, type JudgeContext } from "./checks.ts";
export { type DeviceFacts, DeviceFirewall, readFacts } from "./facts.ts";
export {
  type JudgedDevice,
  type JudgedDevices,
  judgeDevices,
  judgeDevicesSparingly,
  type JudgeRequest,
} from "./devices.ts";
export { type CheckCounts, countChecks, judgeDevice, type JudgedPolicy } from "./judge.ts";
export {
  describeMesh,
  medianMs,
  type Mesh,
  MESH_SCRIPT,
  type MeshLink,
  type MeshPeer,
  readMesh,
  readMeshPeers,
} from "./mesh.ts";
export {
  desiredFirewall,
  hashShieldPolicy,
  readShieldPolicy,
  shieldFileSchema,
  type ShieldPolicy,
  type ShieldPolicyEntry,
  shieldPolicyOf,
  shippedShieldPolicy,
} from "./policy.ts";
export {
  currentShieldPolicy,
  followShieldFile,
  shieldFilePath,
  type ShieldPolicyInForce,
} from "./policy_file.ts";
export { type OsRelease, supportEnd } from "./releases.ts";
