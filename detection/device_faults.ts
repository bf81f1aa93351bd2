/** Faults of devices, by the facts that they reported last: failed policies that name a finding, full disks, low memory. */
import { z } from "zod";
import type { Severity } from "../domain/mod.ts";
import { readAgent } from "../integrations/devices/mod.ts";
import { type JudgedDevice, judgeDevices } from "../shield/mod.ts";
import { type FindingRecord, fingerprintFault, listOpenFindings } from "../store/mod.ts";
import type { DetailedFinding, DetectionContext, RecheckResult } from "./detector.ts";
import type { DetectorSettings } from "./settings.ts";

type Settings = DetectorSettings["host_resources"];

/** Something of a device that may be wrong. */
interface Aspect {
  /** The same one is the same fault. */
  readonly name: string;
  readonly state: "right" | "wrong" | "unknown";
  readonly code: string;
  readonly severity: Severity;
  readonly summary: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Script of the catalogue that mends it. */
  readonly remedy?: string | null;
}

/** Faults of all devices of a tenant. */
export interface DeviceFaults {
  /** Number of devices. */
  readonly probed: number;
  readonly found: readonly DetailedFinding[];
  /** Ids of the devices, which are the hosts of their findings. */
  readonly hosts: readonly string[];
  /** Fingerprints of faults of which nothing is known at the moment: where one was found, it stays. */
  readonly unknown: readonly string[];
}

const Disks = z.array(z.object({
  mount: z.string().max(400),
  size_bytes: z.number().positive(),
  free_bytes: z.number().min(0),
}));
const Memory = z.object({ total_bytes: z.number().positive(), available_bytes: z.number().min(0) });

/** Finds the faults of the devices of the context's tenant. */
export async function findDeviceFaults(context: DetectionContext): Promise<DeviceFaults> {
  const { devices } = await judge(context);
  const found: DetailedFinding[] = [];
  const unknown: string[] = [];
  for (const one of devices) {
    if (!readDisks(one)) unknown.push(...await listDiskFaults(context, one.device.id));
    for (const aspect of aspectsOf(one, context.settings.host_resources)) {
      if (aspect.state === "right") continue;
      const fingerprint = await fingerprintOf(context, one.device.id, aspect.name);
      if (aspect.state === "unknown") unknown.push(fingerprint);
      else found.push(toFinding(one, aspect, fingerprint));
    }
  }
  return { probed: devices.length, found, hosts: devices.map(({ device }) => device.id), unknown };
}

/** Looks again at a fault of a device. What is not known is still a fault. */
export async function recheckDevice(
  context: DetectionContext,
  { target, code }: FindingRecord,
): Promise<RecheckResult> {
  const { devices: [one] } = await judge(context, String(target.device_id));
  if (!one) return { present: false, code: "gone" };
  const aspect = aspectsOf(one, context.settings.host_resources)
    .find(({ name }) => name === target.aspect);
  if (!aspect && !readDisks(one)) return { present: true, code };
  if (!aspect) return { present: false, code: "gone" };
  if (aspect.state === "unknown") return { present: true, code };
  return aspect.state === "wrong"
    ? { present: true, code: aspect.code }
    : { present: false, code: "ok" };
}

/** Returns whether a finding is about a device. */
export function isDeviceFault(record: Pick<FindingRecord, "target"> | undefined): boolean {
  return record?.target.kind === "device";
}

async function judge({ store }: DetectionContext, deviceId?: string) {
  const { sha256: agentSha256 } = await readAgent();
  const one = deviceId === undefined ? {} : { deviceId };
  return await judgeDevices(store.db, { tenant: store.tenant, agentSha256, ...one });
}

function aspectsOf(one: JudgedDevice, settings: Settings): Aspect[] {
  return [...policyAspects(one), ...diskAspects(one, settings), ...memoryAspects(one, settings)];
}

function policyAspects({ device, judged }: JudgedDevice): Aspect[] {
  return judged.filter(({ policy: { finding } }) => finding).map(({ policy, result, reason }) => ({
    name: `policy:${policy.id}`,
    state: result === "fail" ? "wrong" : result === "unknown" ? "unknown" : "right",
    code: `posture_${Object.keys(policy.check)[0]}`, // codes are public, ids of own policies are not
    severity: policy.severity,
    summary: `${nameOf(device)} fails the policy ${policy.id}: ${reason}`,
    detail: { policy: policy.id, title: policy.title, reason },
    remedy: policy.remedy_script_id,
  }));
}

function diskAspects({ device }: JudgedDevice, settings: Settings): Aspect[] {
  return (readDisks({ device }) ?? []).map(({ mount, size_bytes, free_bytes }) => {
    const percent = 100 * (1 - free_bytes / size_bytes);
    const isFull = percent >= settings.full_percent;
    return {
      name: `disk:${mount}`,
      state: percent >= settings.filling_percent ? "wrong" : "right",
      code: isFull ? "disk_full" : "disk_filling",
      severity: isFull ? "high" : "medium",
      summary: `The disk at ${mount} of ${nameOf(device)} is ${Math.floor(percent)} % full`,
      detail: { path: mount, total_bytes: size_bytes, free_bytes },
    };
  });
}

function readDisks({ device }: Pick<JudgedDevice, "device">) {
  return Disks.safeParse(device.inventory.disks).data;
}

/** Lists the fingerprints of the faults of disks that were found on a device earlier. */
async function listDiskFaults({ store }: DetectionContext, host: string): Promise<string[]> {
  const open = await listOpenFindings(store.db, { detector: "host_resources", host });
  return open.filter(({ target }) => String(target.aspect).startsWith("disk:"))
    .map(({ fingerprint }) => fingerprint);
}

function memoryAspects({ device }: JudgedDevice, settings: Settings): Aspect[] {
  const { data } = Memory.safeParse(device.inventory.memory);
  const percent = data ? 100 * (1 - data.available_bytes / data.total_bytes) : 0;
  return [{
    name: "memory",
    state: !data ? "unknown" : percent >= settings.memory_percent ? "wrong" : "right",
    code: "memory_low",
    severity: "high",
    summary: `The memory of ${nameOf(device)} is ${Math.floor(percent)} % used`,
    detail: data ?? {},
  }];
}

function toFinding(
  { device }: JudgedDevice,
  { name, code, severity, summary, detail, remedy = null }: Aspect,
  fingerprint: string,
): DetailedFinding {
  return {
    service: null,
    detector: "host_resources",
    check: "host",
    code,
    fingerprint,
    severity,
    observed_at: new Date().toISOString(),
    host: device.id,
    summary,
    detail,
    target: {
      kind: "device",
      device_id: device.id,
      aspect: name,
      remedy_script_id: remedy,
      ...(remedy === null ? {} : { remedy: `the script ${remedy} on the device` }),
    },
  };
}

async function fingerprintOf(
  { store }: DetectionContext,
  deviceId: string,
  aspect: string,
): Promise<string> {
  return await fingerprintFault(store, "device", deviceId, aspect);
}

function nameOf({ name, id }: JudgedDevice["device"]): string {
  return `${name} (${id})`;
}
