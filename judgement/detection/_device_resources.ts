/** Resources and posture of devices, by the facts that they reported last. */
import { say } from "../../contract/domain/mod.ts";
import { z } from "zod";
import { type JudgedDevice, judgeDevices, readAgent } from "../shield/mod.ts";
import { type DeviceAspect, type DeviceAspects, nameDevice } from "./_device_aspects.ts";
import type { DetectionContext } from "./detector.ts";
import type { DetectorSettings } from "./settings.ts";

type Settings = DetectorSettings["host_resources"];

const Disks = z.array(z.object({
  mount: z.string().max(400),
  size_bytes: z.number().positive(),
  free_bytes: z.number().min(0),
})).max(1_000);
const Memory = z.object({ total_bytes: z.number().positive(), available_bytes: z.number().min(0) });

/** Lists what the policies in force, disks and memory say of devices. @param id of one device; default: all */
export async function listResourceAspects(
  { store, settings: { host_resources: settings } }: DetectionContext,
  id?: string,
): Promise<DeviceAspects[]> {
  const { sha256: agentSha256 } = await readAgent();
  const one = id === undefined ? {} : { deviceId: id };
  const { devices } = await judgeDevices(store.db, { tenant: store.tenant, agentSha256, ...one });
  return devices.map((device): DeviceAspects => {
    const disks = diskAspects(device, settings);
    return {
      device: device.device,
      aspects: [
        ...policyAspects(device),
        ...memoryAspects(device, settings),
        ...disks ?? [],
      ],
      unknownPrefixes: disks ? [] : ["disk:"],
      absentCode: "gone",
    };
  });
}

function policyAspects({ device, judged }: JudgedDevice): DeviceAspect[] {
  return judged.filter(({ policy: { finding } }) => finding).map(({ policy, result, reason }) => ({
    name: `policy:${policy.id}`,
    state: result === "fail" ? "wrong" : result === "unknown" ? "unknown" : "right",
    code: `posture_${Object.keys(policy.check)[0]}`, // codes are public, ids of own policies are not
    severity: policy.severity,
    summary: say`${nameDevice(device)} fails the policy ${policy.id}: ${reason}`,
    detail: { policy: policy.id, title: policy.title, reason },
    remedy: policy.remedy_script_id === null ? null : { script: policy.remedy_script_id },
  }));
}

/** Returns the fullest first; undefined: the device does not tell, or in another form. */
function diskAspects({ device }: JudgedDevice, settings: Settings): DeviceAspect[] | undefined {
  const disks = Disks.safeParse(device.inventory.disks).data
    ?.map((disk) => ({ ...disk, percent: 100 * (1 - disk.free_bytes / disk.size_bytes) }))
    .sort((a, b) => b.percent - a.percent);
  return disks?.map(({ mount, size_bytes, free_bytes, percent }) => {
    const isFull = percent >= settings.full_percent;
    return {
      name: `disk:${mount}`,
      state: percent >= settings.filling_percent ? "wrong" : "right",
      code: isFull ? "disk_full" : "disk_filling",
      severity: isFull ? "high" : "medium",
      summary: say`The disk at ${mount} of ${nameDevice(device)} is ${Math.floor(percent)} % full`,
      detail: { path: mount, total_bytes: size_bytes, free_bytes },
    };
  });
}

function memoryAspects({ device }: JudgedDevice, settings: Settings): DeviceAspect[] {
  const { data } = Memory.safeParse(device.inventory.memory);
  const percent = data ? 100 * (1 - data.available_bytes / data.total_bytes) : 0;
  return [{
    name: "memory",
    state: !data ? "unknown" : percent >= settings.memory_percent ? "wrong" : "right",
    code: "memory_low",
    severity: "high",
    summary: say`The memory of ${nameDevice(device)} is ${Math.floor(percent)} % used`,
    detail: data ?? {},
  }];
}
