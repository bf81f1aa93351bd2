/** Devices judged by the policy in force. */
import { type Db, type DeviceFactsRecord, listDeviceFacts } from "../store/mod.ts";
import { type DeviceFacts, readFacts } from "./facts.ts";
import { judgeDevice, type JudgedPolicy } from "./judge.ts";
import { desiredFirewall } from "./policy.ts";
import { currentShieldPolicy, type ShieldPolicyInForce } from "./policy_file.ts";

/** A device with the results of its checks. */
export interface JudgedDevice {
  readonly device: DeviceFactsRecord;
  readonly facts: DeviceFacts;
  readonly judged: readonly JudgedPolicy[];
}

/** A tenant's devices, judged. */
export interface JudgedDevices extends ShieldPolicyInForce {
  readonly devices: readonly JudgedDevice[];
}

/** Devices to judge, and what the checks need besides the policy. */
export interface JudgeRequest {
  readonly tenant: string;
  /** SHA-256 of the agent that the platform serves. */
  readonly agentSha256: string;
  /** One device alone; default: all. */
  readonly deviceId?: string;
  readonly now?: Date;
}

/** Judges the devices of a tenant by the facts that they reported last. */
export async function judgeDevices(
  db: Db,
  { tenant, agentSha256, deviceId, now = new Date() }: JudgeRequest,
): Promise<JudgedDevices> {
  const [inForce, records] = await Promise.all([
    currentShieldPolicy(db),
    listDeviceFacts(db, deviceId),
  ]);
  const { policy } = inForce;
  const context = { now, agentSha256, desiredFirewall: desiredFirewall(policy, tenant) };
  const devices = records.map((device): JudgedDevice => {
    const facts = readFacts(device, device.inventory, device.firewall);
    return { device, facts, judged: judgeDevice(policy, facts, context) };
  });
  return { ...inForce, devices };
}
