import { extendSeries } from "../../integrations/calendar/mod.ts";
import {
  addMessage,
  type Db,
  listExpiringApprovals,
  listTenants,
  tellDueTasks,
} from "../../store/mod.ts";
import type { ActivityParts } from "../parts.ts";

/**
 * Sources of what is due at a time. Each adds a message for what is due and not yet told, with a key, so that it is told
 * once; in the name of one tenant.
 *
 * @returns how many it has added
 */
const SOURCES: readonly ((db: Db) => Promise<number>)[] = [
  tellExpiringApprovals,
  tellDueTasks,
  extendSeries, // books what has come into reach, and tells what could not be
];

/** Creates the activity that tells people what is due. */
export function dueActivities({ store }: ActivityParts) {
  /** Asks every source, for every tenant. Safe to repeat: each message is added once. @returns how many were added */
  async function tellWhatIsDue(): Promise<number> {
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
      subject: `${id} expires at ${expiresAt}, and nobody has decided`,
      text: `npm run approvals -- show ${id}`,
      refs: { approval_id: id, ...(ticketId ? { ticket_id: ticketId } : {}) },
      ...(severity ? { severity } : {}),
      service,
    });
    if (messageId !== undefined) added++;
  }
  return added;
}
