/** Faults of devices: each detector that looks at devices tells what is wrong with them, and this makes findings of it. */
import type { DetectorName } from "../../contract/domain/mod.ts";
import { fingerprintFault } from "../../store/mod.ts";
import { type FindingRecord, listOpenFindings } from "../../store/incidents/mod.ts";
import type { DeviceAspect, DeviceAspects } from "./_device_aspects.ts";
import { listResourceAspects } from "./_device_resources.ts";
import { listServiceAspects } from "./_device_services.ts";
import {
  type DetailedFinding,
  type DetectionContext,
  looksAtShared,
  type RecheckResult,
} from "./detector.ts";

/** A detector that looks at devices. */
type DeviceDetector = Extract<DetectorName, "service_probes" | "host_resources">;

/** Lists what a detector sees of all devices of a tenant, or of one. */
type DeviceSource = (context: DetectionContext, id?: string) => Promise<DeviceAspects[]>;

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

/** Open findings of one device and detector at a time: a device tells what it likes. Others wait until these have ended. */
const MAX_FAULTS = 32;

const SOURCES: Readonly<Record<DeviceDetector, DeviceSource>> = {
  service_probes: listServiceAspects,
  host_resources: listResourceAspects,
};

/** Finds the faults that a detector sees of the devices of the context's tenant. */
export async function findDeviceFaults(
  context: DetectionContext,
  detector: DeviceDetector,
): Promise<DeviceFaults> {
  if (!looksAtShared(context)) return { probed: 0, found: [], hosts: [], unknown: [] };
  const devices = await SOURCES[detector](context);
  const open = await listOpenByDevice(context, detector);
  const found = new Map<string, DetailedFinding>(); // a device may tell something twice
  const unknown: string[] = [];
  for (const one of devices) {
    const earlier = open.get(one.device.id) ?? [];
    for (const { fingerprint, target } of earlier) {
      if (isUnknown(one, target.aspect)) unknown.push(fingerprint);
    }
    const known = new Set(earlier.map(({ fingerprint }) => fingerprint));
    let room = MAX_FAULTS - known.size;
    for (const aspect of one.aspects) {
      if (aspect.state === "right") continue;
      const fingerprint = await fingerprintOf(context, one.device.id, aspect.name);
      if (aspect.state === "unknown") unknown.push(fingerprint);
      else if (known.has(fingerprint) || room-- > 0) {
        found.set(fingerprint, toFinding(detector, one, aspect, fingerprint));
      }
    }
  }
  const hosts = devices.map(({ device }) => device.id);
  return { probed: devices.length, found: [...found.values()], hosts, unknown };
}

/** Looks again at a fault of a device. What is not known is still a fault. */
export async function recheckDevice(
  context: DetectionContext,
  { detector, target, code }: FindingRecord,
): Promise<RecheckResult> {
  const [one] = await SOURCES[detector as DeviceDetector](context, String(target.device_id));
  if (!one) return { present: false, code: "gone" };
  const aspect = one.aspects.find(({ name }) => name === target.aspect);
  if (!aspect && isUnknown(one, target.aspect)) return { present: true, code };
  if (!aspect) return { present: false, code: one.absentCode };
  if (aspect.state === "unknown") return { present: true, code };
  return aspect.state === "wrong"
    ? { present: true, code: aspect.code }
    : { present: false, code: "ok" };
}

/** Returns whether a finding is about a device. */
export function isDeviceFault(record: Pick<FindingRecord, "target"> | undefined): boolean {
  return record?.target.kind === "device";
}

async function listOpenByDevice(
  { store }: DetectionContext,
  detector: DeviceDetector,
): Promise<Map<string | null, FindingRecord[]>> {
  const open = new Map<string | null, FindingRecord[]>();
  for (const finding of await listOpenFindings(store.db, { detector })) {
    const others = open.get(finding.host);
    if (others) others.push(finding);
    else open.set(finding.host, [finding]);
  }
  return open;
}

/** Returns whether nothing is known now of a fault that was found earlier. */
function isUnknown({ unknownPrefixes }: DeviceAspects, aspect: unknown): boolean {
  return unknownPrefixes.some((prefix) => String(aspect).startsWith(prefix));
}

function toFinding(
  detector: DeviceDetector,
  { device }: DeviceAspects,
  { name, code, severity, summary, detail, remedy = null }: DeviceAspect,
  fingerprint: string,
): DetailedFinding {
  return {
    service: null,
    detector,
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
      remedy_script_id: remedy?.script ?? null,
      ...(remedy
        ? {
          remedy: `the script ${remedy.script} on the device`,
          remedy_parameters: remedy.parameters ?? {},
        }
        : {}),
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
