import { z } from "zod";
import type { Realm } from "./_realm.ts";

/** Something that an administrator has done in a realm. */
export interface AdminEvent {
  readonly id: string | null;
  readonly at: string;
  /** `CREATE`, `UPDATE`, `DELETE` or `ACTION`. */
  readonly operation: string;
  /** `USER`, `CLIENT`, `ORGANIZATION`, … */
  readonly resource: string;
  /** Path of the resource in the admin API, with ids alone. */
  readonly path: string | null;
  /** Id of who did it. */
  readonly userId: string | null;
  /** Why it was refused; null: it was done. */
  readonly error: string | null;
}

const MAX_EVENTS = 20;

const Text = z.string().max(2_000).transform((text) => text.slice(0, 200));
/** An event without the text that was sent (`representation`) and without addresses. */
const Event = z.object({
  id: Text.nullish(),
  time: z.number().int().min(0).max(8.64e15),
  operationType: Text,
  resourceType: Text.default("UNKNOWN"),
  resourcePath: Text.nullish(),
  authDetails: z.object({ userId: Text.nullish() }).nullish(),
  error: Text.nullish(),
});

/** Lists the newest events of a realm, the newest first. @throws {RemoteFailed} */
export async function listAdminEvents(realm: Realm): Promise<AdminEvent[]> {
  const events = await realm.read({
    method: "GET",
    path: `/admin-events?first=0&max=${MAX_EVENTS}`,
    answer: z.array(Event),
  });
  return events.map((event) => ({
    id: event.id ?? null,
    at: new Date(event.time).toISOString(),
    operation: event.operationType,
    resource: event.resourceType,
    path: event.resourcePath ?? null,
    userId: event.authDetails?.userId ?? null,
    error: event.error ?? null,
  }));
}

/** Returns whether a realm keeps such events. @throws {RemoteFailed} */
export async function keepsAdminEvents(realm: Realm): Promise<boolean> {
  const { adminEventsEnabled } = await realm.read({
    method: "GET",
    path: "/events/config",
    answer: z.object({ adminEventsEnabled: z.boolean().default(false) }),
  });
  return adminEventsEnabled;
}
