import { condition, setHandler } from "@temporalio/workflow";
import { callChangedSignal, type HeldCallStatus } from "../contract/domain/mod.ts";
import { perform, QUICK } from "./_options.ts";

/** Interval at which a call is read although no signal has come, as a signal may be lost. */
const POLL_INTERVAL = { pending: "10m", approved: "20s" } as const;

/** States of a call that people or the rules did not let run. */
const REFUSED: ReadonlySet<HeldCallStatus["state"]> = new Set(["denied", "expired", "refused"]);

/** A held call for which a task waits. */
export interface HeldCallWait {
  readonly taskId: string;
  readonly approvalId: string;
  /** Returns true once the task's client has canceled it. */
  isCanceled(): boolean;
  /** Is called once the call is approved and runs. */
  onApproved(): Promise<void>;
}

/** Waits until people have decided about a call and, if they approve it, it has ended. @returns undefined: it was withdrawn */
export async function waitForHeldCall(
  { taskId, approvalId, isCanceled, onApproved }: HeldCallWait,
): Promise<HeldCallStatus | undefined> {
  const approval_id = approvalId;
  let hasChanged = false;
  let isApproved = false;
  let triedWithdrawal = false;
  setHandler(callChangedSignal, () => void (hasChanged = true));
  while (true) {
    hasChanged = false;
    const call = await perform(QUICK, `Reads the state of ${approvalId}`)
      .getHeldCallStatus({ approval_id });
    if (call.state !== "pending" && call.state !== "approved") return call;
    if (call.state === "approved" && !isApproved) {
      isApproved = true;
      await onApproved();
      continue;
    }
    if (isCanceled() && !triedWithdrawal) {
      triedWithdrawal = true;
      const isWithdrawn = await perform(QUICK, `Withdraws ${approvalId}`)
        .withdrawCall({ approval_id, task_id: taskId });
      if (isWithdrawn) return undefined;
      continue;
    }
    await condition(
      () => hasChanged || (isCanceled() && !triedWithdrawal),
      POLL_INTERVAL[call.state],
    );
  }
}

/** Returns the state of a task whose held call did not succeed. */
export function failedTaskState({ state }: HeldCallStatus): "rejected" | "failed" {
  return REFUSED.has(state) ? "rejected" : "failed";
}

/** Returns a sentence on why a held call did not succeed. */
export function describeFailedCall(approvalId: string, { state, error }: HeldCallStatus): string {
  if (state === "denied") return `A person has denied it (${approvalId})`;
  if (state === "expired") return `Nobody decided about ${approvalId} in time`;
  return error ?? `${approvalId} ended as ${state}`;
}
