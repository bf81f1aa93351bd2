import { hostname } from "node:os";
import type { Service } from "../../integrations/host/mod.ts";
import { deviceAsService } from "./_device_scripts.ts";
import type { Db } from "../../store/mod.ts";
import { getDevice } from "../../store/devices/mod.ts";
import { getService } from "../../store/cmdb/mod.ts";
import { isPlace } from "../../store/platform/mod.ts";

const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1", hostname()]);

const DEVICE_ID = /^DEV-[0-9a-f]{12}$/;

const HOST: Omit<Service, "name"> = {
  type: "host",
  host: "localhost",
  owner: null,
  origin: "discovered",
  check: null,
  restart: null,
  watched: false,
  dependsOn: [],
};

/**
 * Returns a service by name, or undefined. The hosts of places and devices count as services, so that their own faults can
 * be repaired.
 */
export async function findService(db: Db, name: string): Promise<Service | undefined> {
  if (DEVICE_ID.test(name)) {
    const device = await getDevice(db, name);
    return device && deviceAsService(device);
  }
  const service = await getService(db, name) as Service | undefined;
  return service ?? (await isPlace(db, name) ? { name, ...HOST, place: name } : undefined);
}

/** Returns true if a service runs on the host of its place. */
export function isLocal({ host, place }: Service): boolean {
  return LOCAL_HOSTS.has(host) || host.toLowerCase() === place;
}
