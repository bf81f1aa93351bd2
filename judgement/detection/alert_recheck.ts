import { UNPROVEN } from "../../contract/domain/mod.ts";
import type { Alert, AlertClock } from "../../integrations/alerts/mod.ts";
import { RemoteFailed } from "../../integrations/remote/mod.ts";
import {
  type FindingRecord,
  getClearedMs,
  getFinding,
  putFindingAlerts,
} from "../../store/incidents/mod.ts";
import { type AlertFault, readAlertFaults } from "./_alert_mapping.ts";
import { type AlertMark, areForgotten, marksOf, toMarks } from "./alert_faults.ts";
import type { DetectionContext, RecheckResult, RecheckTime } from "./detector.ts";

/**
 * An alert that is gone so shortly before its own end may have ended by itself: a part of the time for which it was sent (4
 * minutes by Prometheus' defaults), and this at most.
 */
const MAX_MARGIN_MS = 30_000;
const MARGIN = 1 / 4;

/**
 * Looks again at the alerts that a fault was found by. It is over only if its detector sees nothing of it, and every alert
 * was resolved.
 *
 * @param own what the detector itself sees
 */
export async function recheckAlerts(
  context: DetectionContext,
  known: FindingRecord | undefined,
  time: RecheckTime,
  own: RecheckResult,
): Promise<RecheckResult> {
  const { alerts: source } = context;
  if (!source || !known || own.present) return own;
  const marks = marksOf(known);
  if (marks.length === 0) return own;
  const unproven = {
    present: true,
    code: time === "before" ? known.code : UNPROVEN,
    lags: true,
  };
  try {
    const { fault, alerts } = await findAlertFault(context, known);
    if (!fault) {
      const isListed = alerts.some(({ fingerprint }) =>
        marks.some((mark) => mark.fingerprint === fingerprint)
      );
      if (isListed) { // it fires, but the rules have changed
        return time === "before" ? { present: false, code: "alert_not_mapped" } : unproven;
      }
      const clock = await source.readClock();
      if (time === "before") {
        return areForgotten(marks, clock) ? unproven : { present: false, code: "alert_over" };
      }
      const clearedMs = await getClearedMs(context.store.db, known.fingerprint);
      const isProven = wereResolved(marks, clearedMs, clock);
      return isProven ? { present: false, code: "alert_resolved" } : unproven;
    }
    if (time === "before" && fault.firing.length === 0) {
      return { present: false, code: "alert_silenced" };
    }
    await keepMarks(context, known, fault);
    return { present: true, code: fault.code, lags: true };
  } catch (error) {
    if (error instanceof RemoteFailed) return unproven;
    throw error;
  }
}

/**
 * Returns the alerts that a fault was found by, as they fire now. None where they can't be read, or where a silence of
 * their labels would silence another alert, too: one with the same labels and more.
 */
export async function findSilenceableAlerts(
  context: DetectionContext,
  fingerprint: string,
): Promise<readonly Alert[]> {
  const known = await getFinding(context.store.db, fingerprint);
  if (!known || marksOf(known).length === 0) return [];
  try {
    const { fault, alerts } = await findAlertFault(context, known);
    const firing = fault?.firing ?? [];
    const own = new Set(firing.map((one) => one.fingerprint));
    const others = alerts.filter((one) => !own.has(one.fingerprint));
    return firing.some((one) => others.some((other) => hasLabelsOf(other, one))) ? [] : firing;
  } catch (error) {
    if (error instanceof RemoteFailed) return [];
    throw error;
  }
}

function hasLabelsOf(other: Alert, { labels }: Alert): boolean {
  return Object.entries(labels).every(([name, value]) => other.labels[name] === value);
}

/** @throws {RemoteFailed} */
async function findAlertFault(
  context: DetectionContext,
  { detector, fingerprint, service }: Pick<FindingRecord, "detector" | "fingerprint" | "service">,
): Promise<{ readonly fault: AlertFault | undefined; readonly alerts: readonly Alert[] }> {
  const { faults, alerts } = await readAlertFaults(context, "now");
  const fault = faults.find((one) =>
    one.fingerprint === fingerprint ||
    one.detector === "service_probes" && detector === one.detector && service !== null &&
      one.service === service
  );
  return { fault, alerts };
}

/**
 * Returns whether alerts that are gone were resolved by whoever sends them. Two others look the same: one that is not sent
 * any more ends by itself, at the time that it had from the beginning; and an Alertmanager that was started anew has
 * forgotten what it knew. All times are by Alertmanager's clock.
 *
 * @param clearedMs how long they have been seen to be gone
 */
function wereResolved(
  marks: readonly AlertMark[],
  clearedMs: number,
  { startedAt, now }: AlertClock,
): boolean {
  if (!now) return false;
  const goneAtMs = now.getTime() - clearedMs;
  return marks.every(({ ends_at, updated_at }) => {
    const [endsMs, sentMs] = [Date.parse(ends_at), Date.parse(updated_at)];
    const marginMs = Math.min(MAX_MARGIN_MS, MARGIN * (endsMs - sentMs));
    return goneAtMs + marginMs < endsMs && startedAt.getTime() < sentMs;
  });
}

/** Keeps when alerts end, which moves each time that they are sent. */
async function keepMarks(
  { store }: DetectionContext,
  known: FindingRecord,
  { alerts }: AlertFault,
): Promise<void> {
  const marks = toMarks(alerts);
  const newest = (all: readonly AlertMark[]) =>
    all.map(({ updated_at }) => updated_at).sort().at(-1);
  if (newest(marks) === newest(marksOf(known))) return;
  await putFindingAlerts(store.db, known.fingerprint, marks);
}
