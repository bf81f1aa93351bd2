import { setCurrentDetails, sleep } from "@temporalio/workflow";
import type { SequenceOrder, SequenceResult } from "../domain/mod.ts";
import { perform, QUICK, SEAL } from "./_options.ts";
import { currentRun } from "./_run.ts";

/**
 * Sends a contact the mails of a sequence, one after the other, until it is at its end, or the contact has answered or
 * opted out. Its id is `crmSequence-<contact id>-<sequence>`.
 */
export async function crmSequence(order: SequenceOrder): Promise<SequenceResult> {
  const run = currentRun();
  const { started_at } = await perform(SEAL, "Tells that it begins").beginSequence({ order, run });
  for (let step = 1;; step++) {
    const { wait_seconds } = await perform(QUICK, `Plans step ${step}`)
      .planSequenceStep({ order, step });
    setCurrentDetails(`**step ${step}** · in ${wait_seconds ?? 0} s`);
    if (wait_seconds === null) return await end("completed", step - 1);
    await sleep(wait_seconds * 1_000);
    const { outcome } = await perform(SEAL, `Sends step ${step}`)
      .runSequenceStep({ order, run, step, started_at });
    if (outcome !== "sent") return await end(outcome, step - 1);
  }

  async function end(outcome: SequenceResult["outcome"], steps: number): Promise<SequenceResult> {
    setCurrentDetails(`**${outcome}** · ${steps} mails`);
    return await perform(SEAL, "Seals its end").endSequence({ order, run, outcome, steps });
  }
}
