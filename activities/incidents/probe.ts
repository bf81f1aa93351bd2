import { setTimeout as sleep } from "node:timers/promises";
import { cancellationSignal } from "@temporalio/activity";
import {
  isDeviceFault,
  openDetectionContext,
  recheck,
  type RecheckResult,
} from "../../judgement/detection/mod.ts";
import { type Finding, RESTART_ASKED, type VerifyResult } from "../../contract/domain/mod.ts";
import { addTicketEvent, getFinding } from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import type { RoundOrder } from "./_order.ts";

/** Time that a fault may take to go after a repair, and the pause between looks. Devices report with their next heartbeat. */
const RECOVERY = { timeoutMs: 15_000, intervalMs: 100 } as const;
const RECOVERY_OF_DEVICES = { timeoutMs: 100_000, intervalMs: 1_000 } as const;
/** Alertmanager learns of it from those who measure: theirs is the pace. How long it may take is a setting. */
const ALERTS_INTERVAL_MS = 1_000;
/** Pause before a service that answered once is probed again, as it may be about to fail. */
const CONFIRM_INTERVAL_MS = 10;

/** Creates the activities that probe whether a fault is there. */
export function probeActivities({ config, store, temporal, alerts }: ActivityParts) {
  const createContext = () => openDetectionContext({ config, store, temporal, alerts });

  /**
   * Probes again, by the detector that found the fault. A report about no service that can be probed is believed, and
   * so is the wish for a restart. Safe to repeat: it only reads.
   */
  async function detect(
    finding: Finding,
  ): Promise<{ readonly present: boolean; readonly code: string }> {
    if (finding.code === RESTART_ASKED) return { present: true, code: finding.code };
    return await recheck(createContext(), finding, "before") ??
      { present: finding.check === "report", code: finding.code };
  }

  /**
   * Waits until two probes in a row no longer find the fault, or the time is over: longer, where only alerts of others
   * still report it. Safe to repeat: it only reads, and adds
   * one event to the ticket.
   */
  async function verify({ finding, ticket_id, round, run }: RoundOrder): Promise<VerifyResult> {
    const context = createContext();
    const isOfDevice = isDeviceFault(await getFinding(store.db, finding.fingerprint));
    const last = await probeUntilRecovered(
      () => recheck(context, finding, "after"),
      {
        ...(isOfDevice ? RECOVERY_OF_DEVICES : RECOVERY),
        lagMs: context.settings.alerts.resolve_seconds * 1_000,
      },
    );
    const healthy = last ? !last.present : false;
    const code = last?.code ?? "no_check";
    await addTicketEvent(store.db, ticket_id, {
      key: `${run.run_id}/verified-${round}`,
      kind: healthy ? "verified" : "verification_failed",
      phase: healthy ? "verified" : undefined,
      data: { round, code },
    });
    return { healthy, code };
  }

  return { detect, verify };
}

/** Times of waiting for a fault to go. */
interface Recovery {
  readonly timeoutMs: number;
  readonly intervalMs: number;
  /** Where only others still report it, who take longer to see that it is over. */
  readonly lagMs: number;
}

/** Probes until the fault is gone twice in a row, or the time is over; returns the last result. */
async function probeUntilRecovered(
  probe: () => Promise<RecheckResult | undefined>,
  { timeoutMs, intervalMs, lagMs }: Recovery,
): Promise<RecheckResult | undefined> {
  const startedAt = Date.now();
  let last = await probe();
  let wasGone = false;
  while (last && (last.present || !wasGone)) {
    const isLate = Date.now() - startedAt >= (last.lags ? lagMs : timeoutMs);
    if (last.present && isLate || cancellationSignal().aborted) break;
    wasGone = !last.present;
    const pauseMs = last.lags ? Math.max(intervalMs, ALERTS_INTERVAL_MS) : intervalMs;
    await sleep(wasGone ? CONFIRM_INTERVAL_MS : pauseMs);
    last = await probe();
  }
  return last;
}
