import { condition, setHandler } from "@temporalio/workflow";
import { callChangedSignal, type HeldCallStatus, type TaskRecord } from "../domain/mod.ts";
import { perform, QUICK } from "./_options.ts";

/** When a word that was lost is missed. */
const LOOK_AGAIN = { pending: "10m", approved: "20s" } as const;

/**
 * Waits until people have decided about a task's call, and until it has ended where they approved it.
 *
 * @param canceled whether the asker does not want it any more
 * @param approved told when it is being run
 * @returns undefined: its asker took it back before it was run
 */
export async function untilRuled(
  { id, approval_id }: TaskRecord & { readonly approval_id: string },
  canceled: () => boolean,
  approved: () => Promise<void>,
): Promise<HeldCallStatus | undefined> {
  let news = false;
  let runs = false;
  let asked = false;
  setHandler(callChangedSignal, () => void (news = true));
  while (true) {
    news = false;
    const call = await perform(QUICK, `Looks what became of ${approval_id}`)
      .getHeldCallStatus({ approval_id });
    if (call.state !== "pending" && call.state !== "approved") return call;
    if (call.state === "approved" && !runs) {
      runs = true;
      await approved();
      continue;
    }
    if (canceled() && !asked) {
      asked = true;
      const order = { approval_id, task_id: id };
      const back = await perform(QUICK, `Takes ${approval_id} back`).withdrawCall(order);
      if (back) return undefined;
      continue;
    }
    await condition(() => news || (canceled() && !asked), LOOK_AGAIN[call.state]);
  }
}

/** Why a call that people were asked about was not done, in a sentence. */
export function whyNot(approval_id: string, { state, error }: HeldCallStatus): string {
  if (state === "denied") return `A person has denied it (${approval_id})`;
  if (state === "expired") return `Nobody decided about ${approval_id} in time`;
  return error ?? `${approval_id} ended as ${state}`;
}
