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
export { firewallDrift } from "./checks.ts";
export { readFacts } from "./facts.ts";
export { type JudgedDevice, judgeDevices, judgeDevicesSparingly } from "./devices.ts";
export { countChecks, judgeDevice } from "./judge.ts";
export {
  describeMesh,
  medianMs,
  type Mesh,
  MESH_SCRIPT,
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
  shippedShieldPolicy,
} from "./policy.ts";
export {
  checkShieldFile,
  currentShieldPolicy,
  followShieldFile,
  shieldFilePath,
} from "./policy_file.ts";
