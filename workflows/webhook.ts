import {
  continueAsNew,
  isCancellation,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";
import type { DeliveryResult } from "../domain/mod.ts";
import { OUTSIDE, perform, STANDING } from "./_options.ts";

/** Pauses are a little longer at random, so that what failed together does not come back together. */
const SPREAD = 0.1;

/**
 * Tells one webhook one piece of news, at least once: tries with growing pauses, and gives up after the last of them. Its
 * id is `webhook-<delivery id>`.
 */
export async function webhookDelivery(deliveryId: string): Promise<DeliveryResult> {
  for (let attempt = 1;; attempt++) {
    const { state, code, retry_in_seconds } = await perform(OUTSIDE, `Attempt ${attempt}`)
      .deliverWebhook({ delivery_id: deliveryId, attempt });
    setCurrentDetails(`**${state}** · attempt ${attempt} · ${code}`);
    if (retry_in_seconds === null) return { state, attempts: attempt, code };
    await sleep(retry_in_seconds * 1000 * (1 + SPREAD * Math.random()));
  }
}

/** Keeps the relay running that starts a {@linkcode webhookDelivery} for all that is queued. Its id is `webhook-relay`. */
export async function webhookRelay(): Promise<void> {
  while (!workflowInfo().continueAsNewSuggested) {
    try {
      await perform(STANDING, "Starts what is queued for webhooks").relayWebhooks();
    } catch (error) {
      if (isCancellation(error)) throw error; // else its hour is over: another turn
    }
  }
  await continueAsNew<typeof webhookRelay>();
}
