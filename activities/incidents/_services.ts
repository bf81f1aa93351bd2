import { hostname } from "node:os";
import type { Service } from "../../integrations/host/mod.ts";
import { deviceAsService } from "./_device_scripts.ts";
import type { Db } from "../../store/mod.ts";
import { getDevice } from "../../store/devices/mod.ts";
import { getService } from "../../store/cmdb/mod.ts";

const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1", hostname()]);

const DEVICE_ID = /^DEV-[0-9a-f]{12}$/;

const THIS_HOST: Service = {
  name: hostname(),
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
 * Returns a service by name, or undefined. This host and devices count as services, so that their own faults can be
 * repaired.
 */
export async function findService(db: Db, name: string): Promise<Service | undefined> {
  if (DEVICE_ID.test(name)) {
    const device = await getDevice(db, name);
    return device && deviceAsService(device);
  }
  const service = await getService(db, name) as Service | undefined;
  return service ?? (name === hostname() ? THIS_HOST : undefined);
}

/** Returns true if a service runs on this host. */
export function isLocal({ host }: Service): boolean {
  return LOCAL_HOSTS.has(host);
}
