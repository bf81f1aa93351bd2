import { type Observation, say } from "../../contract/domain/mod.ts";
import { getInventory, listPresence } from "../../store/devices/mod.ts";
import { NotHad, type Observer, type ObserverContext, type Subject } from "./observer.ts";

const DEVICE_ID = /^DEV-[0-9a-f]{12}$/;
/** Sections of an inventory that tell something about a fault. */
const SECTIONS = ["memory", "disks", "listeners", "services"];
const MAX_TEXT = 3_000;

/** Read-only scripts of the catalogue that show what a device does now. */
const SCRIPTS = ["process-list", "memory-usage", "disk-usage", "failed-units"];

/** Asks a device what it does now, and reads what its agent has reported last. */
export const device: Observer = {
  name: "device",
  about:
    "Asks a device that is online for its processes, memory, disks and failed units, by read-only scripts; and reads what its agent has reported last: memory, disks, listeners and services",
  applies: (subject) => deviceOf(subject) !== undefined,
  async observe(subject, context): Promise<Observation[]> {
    const { store } = context;
    const id = deviceOf(subject)!;
    const [[presence], { sections }] = await Promise.all([
      listPresence(store.db, id),
      getInventory(store.db, id),
    ]);
    if (!presence) return [];
    const reported = Object.entries(sections).filter(([name]) => SECTIONS.includes(name));
    return [
      ...await ask(id, presence.status, context),
      ...reported.map(([name, value]) => ({
        code: "reported",
        says: say`${id}, which is ${presence.status}, has reported its ${name}.`,
        text: JSON.stringify(value, null, 1).slice(0, MAX_TEXT),
        figures: { section: name, status: presence.status },
      })),
    ];
  },
};

/** Asks a device that is online. */
async function ask(
  id: string,
  status: string,
  { runOnDevice }: ObserverContext,
): Promise<Observation[]> {
  if (!runOnDevice) return [];
  const notHad = (section: string, reason: string): Observation => ({
    code: "not_had",
    says: say`${section} of ${id} could not be had: ${reason.replaceAll("_", " ")}.`,
    figures: { section, reason, status },
  });
  if (status !== "online") return [notHad("What happens now", status)];
  return await Promise.all(SCRIPTS.map(async (script): Promise<Observation> => {
    try {
      const text = await runOnDevice(id, script);
      return {
        code: "looked",
        says: say`${id} has run ${script}.`,
        text: text.slice(0, MAX_TEXT),
        figures: { section: script, status },
      };
    } catch (error) {
      if (!(error instanceof NotHad)) throw error;
      return notHad(script, error.reason);
    }
  }));
}

/** Returns the id of the device that a fault is about. */
function deviceOf({ finding, record }: Subject): string | undefined {
  return [finding.service, record?.host, record?.target.device_id]
    .find((one): one is string => typeof one === "string" && DEVICE_ID.test(one));
}
