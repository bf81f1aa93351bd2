/** Devices judged by the policy in force. */
import type { Db, Store } from "../../store/mod.ts";
import { type DeviceFactsRecord, listDeviceFacts } from "../../store/devices/mod.ts";
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

/** Judging takes at most one part in so many of a process's time for each tenant, however often it is asked for. */
const PARTS_OF_TIME = 20;
/** Work that takes less time is done anew each time. */
const QUICK_MS = 100;

const recent = new WeakMap<Store["pool"], Map<string, Promise<JudgedDevices>>>();

/**
 * Judges all devices of the store's tenant, or returns how they were judged just now: callers who need no key may ask for
 * it, and a thousand devices take a third of a second. Those of a small tenant are judged each time.
 */
export async function judgeDevicesSparingly(
  { db, pool, tenant }: Store,
  agentSha256: string,
): Promise<JudgedDevices> {
  const judged = recent.get(pool) ?? new Map<string, Promise<JudgedDevices>>();
  recent.set(pool, judged);
  const known = judged.get(tenant);
  if (known) return await known;
  const startedMs = performance.now();
  const devices = judgeDevices(db, { tenant, agentSha256 });
  judged.set(tenant, devices);
  try {
    return await devices;
  } finally {
    const tookMs = performance.now() - startedMs;
    const restMs = tookMs < QUICK_MS ? 0 : tookMs * (PARTS_OF_TIME - 1);
    setTimeout(() => judged.delete(tenant), restMs).unref();
  }
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
