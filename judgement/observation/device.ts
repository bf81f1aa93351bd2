import type { Observation } from "../../contract/domain/mod.ts";
import { getInventory, listPresence } from "../../store/devices/mod.ts";
import type { Observer, Subject } from "./observer.ts";

const DEVICE_ID = /^DEV-[0-9a-f]{12}$/;
/** Sections of an inventory that tell something about a fault. */
const SECTIONS = ["memory", "disks", "listeners", "services"];
const MAX_TEXT = 3_000;

/** Reads what the agent of a device has reported last. */
export const device: Observer = {
  name: "device",
  about:
    "Reads what the agent of a device has reported last: memory, disks, listeners and services",
  applies: (subject) => deviceOf(subject) !== undefined,
  async observe(subject, { store }): Promise<Observation[]> {
    const id = deviceOf(subject)!;
    const [[presence], { sections }] = await Promise.all([
      listPresence(store.db, id),
      getInventory(store.db, id),
    ]);
    if (!presence) return [];
    const reported = Object.entries(sections).filter(([name]) => SECTIONS.includes(name));
    return reported.map(([name, value]) => ({
      code: "reported",
      says: `${id}, which is ${presence.status}, has reported its ${name}.`,
      text: JSON.stringify(value, null, 1).slice(0, MAX_TEXT),
      figures: { section: name, status: presence.status },
    }));
  },
};

/** Returns the id of the device that a fault is about. */
function deviceOf({ finding, record }: Subject): string | undefined {
  return [finding.service, record?.host, record?.target.device_id]
    .find((one): one is string => typeof one === "string" && DEVICE_ID.test(one));
}
