/** Stops as they apply to the platform's own repairs and drills, which no call to an operation would hold back. */
import { Problem } from "../contract/mod.ts";
import { type DatedStop, findStop, type StopSubject, type Store } from "../store/mod.ts";

/** Names of the operations and tools that request each kind of work. A stop on one of them applies to all such work. */
export const STOPPABLE_NAMES = {
  repair: ["itsm.loop", "itsm_loop", "itsm_run_loop"],
  test: ["itsm.test", "itsm_test", "itsm_run_test"],
  attack: ["attacks.simulate", "simulate_infrastructure_attack"],
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

/** Returns the stop that applies to the repairs of a finding, and to undoing them; or undefined. */
export async function findRepairStop(
  store: Store,
  { requested_by }: { readonly requested_by?: string },
): Promise<DatedStop | undefined> {
  return await findStop(store.db, stopSubject("repair", requested_by));
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
