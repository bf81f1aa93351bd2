import { setCurrentDetails, sleep } from "@temporalio/workflow";
import type { SequenceOrder, SequenceResult } from "../contract/domain/mod.ts";
import { perform, QUICK, SEAL } from "./_options.ts";
import { currentRun } from "./_run.ts";

/** Pauses between two looks at a held mail; they double from the first to the last. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15 * 60_000;

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
    const outcome = await send(step);
    if (outcome !== "sent") return await end(outcome, step - 1);
  }

  /** Sends the mail of a step. One that is held is waited for: people let it be sent, or they don't. */
  async function send(
    step: number,
  ): Promise<"sent" | Exclude<SequenceResult["outcome"], "completed">> {
    for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const { outcome } = await perform(SEAL, `Sends step ${step}`)
        .runSequenceStep({ order, run, step, started_at });
      if (outcome !== "held") return outcome;
      setCurrentDetails(`**step ${step}** · its mail waits for people`);
      await sleep(pauseMs);
    }
  }

  async function end(outcome: SequenceResult["outcome"], steps: number): Promise<SequenceResult> {
    setCurrentDetails(`**${outcome}** · ${steps} mails`);
    return await perform(SEAL, "Seals its end").endSequence({ order, run, outcome, steps });
  }
}
