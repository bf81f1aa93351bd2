/**
 * Stops and maintenance windows as they apply to the platform's own repairs, drills and articles, which no call to an
 * operation would hold back.
 */
import { Problem } from "../contract/mod.ts";
import { PUBLISHING_NAMES, type RepairHold, type RepairSubject } from "../contract/domain/mod.ts";
import type { Store } from "../store/mod.ts";
import { findStop, type StopSubject } from "../store/calls/mod.ts";
import { findMaintenance } from "../store/calendar/mod.ts";

/** A hold, why it is there, and since when. */
export interface DatedHold extends RepairHold {
  readonly reason: string;
  readonly since: Date;
}

/** Names of the operations and tools that request each kind of work. A stop on one of them applies to all such work. */
export const STOPPABLE_NAMES = {
  repair: ["itsm.loop", "itsm_loop", "itsm_run_loop"],
  test: ["itsm.test", "itsm_test", "itsm_run_test"],
  attack: ["attacks.simulate", "simulate_infrastructure_attack"],
  article: [
    "articles.generate",
    "seo_generate",
    "articles.deploy",
    "seo_deploy",
    ...PUBLISHING_NAMES,
  ],
} as const;

/**
 * Returns what stops are compared with.
 *
 * @param requestedBy `key:<id>`, or another requester
 */
export function stopSubject(
  work: keyof typeof STOPPABLE_NAMES,
  requestedBy: string | undefined,
): StopSubject {
  const keyId = /^key:(.+)$/.exec(requestedBy ?? "")?.[1] ?? null;
  return { keyId, names: STOPPABLE_NAMES[work] };
}

/**
 * Returns what holds back the repairs of a service, and undoing them: a stop, or the calendar's maintenance window that ends
 * last, by the database's clock; or undefined.
 */
export async function findRepairHold(
  { db }: Store,
  { service, requested_by }: RepairSubject,
): Promise<DatedHold | undefined> {
  const stop = await findStop(db, stopSubject("repair", requested_by));
  if (stop) {
    const { kind, name, reason, stopped_at } = stop;
    return { kind, name, reason, since: stopped_at };
  }
  const window = await findMaintenance(db, service);
  return window && {
    kind: "maintenance",
    name: window.eventId,
    reason: window.reason,
    since: window.start,
    until: window.end.toISOString(),
  };
}

/** Returns a hold without what is private. */
export function toRepairHold({ kind, name, until }: DatedHold): RepairHold {
  return { kind, name, ...(until ? { until } : {}) };
}

/** @throws {Problem} `Denied`, not retryable: a stop applies to the drill */
export async function assertDrillAllowed(
  store: Store,
  drill: "test" | "attack",
  requestedBy: string,
): Promise<void> {
  const stop = await findStop(store.db, stopSubject(drill, requestedBy));
  if (!stop) return;
  const subject = stop.kind === "all" ? "everything" : `${stop.kind} ${stop.name}`;
  throw new Problem(
    "Denied",
    `Cannot begin the drill, as ${subject} is stopped: ${stop.reason}`,
  );
}
