import { setCurrentDetails, sleep } from "@temporalio/workflow";
import type { DeliveryResult } from "../contract/domain/mod.ts";
import { perform, REMOTE } from "./_options.ts";

/** Random part of a pause, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/**
 * Delivers one message to one webhook at least once: retries with growing pauses, and gives up after the last. Its id is
 * `webhook-<delivery id>`.
 */
export async function webhookDelivery(deliveryId: string): Promise<DeliveryResult> {
  for (let attempt = 1;; attempt++) {
    const { state, code, retry_in_seconds } = await perform(REMOTE, `Attempt ${attempt}`)
      .deliverWebhook({ delivery_id: deliveryId, attempt });
    setCurrentDetails(`**${state}** · attempt ${attempt} · ${code}`);
    if (retry_in_seconds === null) return { state, attempts: attempt, code };
    await sleep(retry_in_seconds * 1_000 * (1 + JITTER * Math.random()));
  }
}
