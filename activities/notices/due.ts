import { say } from "../../contract/domain/mod.ts";
import { extendSeries } from "../../operations/calendar/booking/mod.ts";
import type { Db } from "../../store/mod.ts";
import { listExpiringApprovals } from "../../store/approvals/mod.ts";
import { markOffline, watchGateways } from "../../store/devices/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { tellDueTasks } from "../../store/board/mod.ts";

/**
 * Sources of what is due at a time. Each adds a message for what is due and not yet told, with a key, so that it is told
 * once; in the name of one tenant.
 *
 * @returns how many it has added
 */
const SOURCES: readonly ((db: Db) => Promise<number>)[] = [
  tellExpiringApprovals,
  tellDueTasks,
  tellOfflineDevices,
  extendSeries, // books what has come into reach, and tells what could not be
];

/** Devices that a message names. */
const MAX_LISTED = 20;

/** Creates the activity that tells people what is due. */
export function dueActivities({ store }: ActivityParts) {
  /** Asks every source, for every tenant. Safe to repeat: each message is added once. @returns how many were added */
  async function tellWhatIsDue(): Promise<number> {
    await watchGateways(store.db);
    let added = 0;
    for (const tenant of await listTenants(store.db)) {
      for (const source of SOURCES) added += await source(store.asTenant(tenant));
    }
    return added;
  }

  return { tellWhatIsDue };
}

/** Tells of approvals that expire soon although nobody has decided. */
async function tellExpiringApprovals(db: Db): Promise<number> {
  let added = 0;
  for (const { id, expiresAt, ticketId, severity, service } of await listExpiringApprovals(db)) {
    const messageId = await addMessage(db, {
      key: `expiring/${id}/${expiresAt}`, // one that is reopened expires anew
      kind: "approval.expiring",
      from: "itsm-loop",
      subject: say`${id} expires at ${expiresAt}, and nobody has decided`,
      text: say`npm run approvals -- show ${id}`,
      refs: { approval_id: id, ...(ticketId ? { ticket_id: ticketId } : {}) },
      ...(severity ? { severity } : {}),
      service,
    });
    if (messageId !== undefined) added++;
  }
  return added;
}

/** Tells of devices that have missed three heartbeats, as many as there are in one message. */
async function tellOfflineDevices(db: Db): Promise<number> {
  return await db.transaction(async (trx) => {
    const silent = await markOffline(trx);
    if (silent.length === 0) return 0;
    const [first] = silent;
    const listed = silent.slice(0, MAX_LISTED).map(({ id, name }) => `${name} (${id})`);
    const others = silent.length - listed.length;
    await addMessage(trx, {
      kind: "device.offline",
      from: "itsm-loop",
      subject: silent.length === 1
        ? say`${listed[0]} is offline`
        : say`${silent.length} devices are offline`,
      text: say`${listed.join(", ")}${
        others > 0 ? say` and ${others} more` : ""
      }. Three heartbeats are missing.`,
      refs: silent.length === 1 ? { device_id: first!.id } : {},
    });
    return 1;
  });
}
