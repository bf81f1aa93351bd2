/** Presence of devices, and their failed units, by the services that they reported last. */
import { say } from "../../contract/domain/mod.ts";
import { z } from "zod";
import { type DeviceServicesRecord, listDeviceServices } from "../../store/devices/mod.ts";
import { type DeviceAspect, type DeviceAspects, nameDevice } from "./_device_aspects.ts";
import type { DetectionContext } from "./detector.ts";

const RESTART_SCRIPT = "service-restart";

const Services = z.array(z.object({ name: z.string(), active: z.string() }));
/** Names are the device's words. These characters are those that systemd allows. */
const UNIT = /^[\w:.\\@-]{1,255}$/;

/** Lists whether devices are heard from, and the units that failed on them. @param id of one device; default: all */
export async function listServiceAspects(
  { store }: DetectionContext,
  id?: string,
): Promise<DeviceAspects[]> {
  const devices = await listDeviceServices(store.db, id);
  return devices.map((device): DeviceAspects => {
    const failed = listFailedUnits(device);
    const units = failed?.map((unit) => unitAspect(device, unit)) ?? [];
    return {
      device,
      aspects: [presenceAspect(device), ...units],
      unknownPrefixes: failed && device.areUnitsKnown ? [] : ["unit:"],
      absentCode: "ok", // only failed units are listed
    };
  });
}

/** Nothing mends it from afar. Of a device that is quarantined, or was never heard from, nothing is known. */
function presenceAspect(device: DeviceServicesRecord): DeviceAspect {
  const { status, lastSeenAt } = device;
  const since = lastSeenAt?.toISOString();
  const isUnknown = status === "quarantined" || since === undefined;
  return {
    name: "presence",
    state: isUnknown ? "unknown" : status === "offline" ? "wrong" : "right",
    code: "device_offline",
    severity: "medium",
    summary: say`${nameDevice(device)} is offline: its last heartbeat came at ${since}`,
    detail: { offline_since: since ?? null },
  };
}

/** Returns undefined where the device tells them in another form. */
function listFailedUnits({ failing }: DeviceServicesRecord): string[] | undefined {
  const { data } = Services.safeParse(failing);
  return data?.filter(({ name, active }) => active === "failed" && UNIT.test(name))
    .map(({ name }) => name);
}

function unitAspect(device: DeviceServicesRecord, unit: string): DeviceAspect {
  return {
    name: `unit:${unit}`,
    state: "wrong",
    code: "unit_failed",
    severity: "high",
    summary: say`The unit ${unit} of ${nameDevice(device)} has failed`,
    detail: { unit },
    remedy: { script: RESTART_SCRIPT, parameters: { unit } },
  };
}
