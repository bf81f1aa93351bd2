import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { TASK_QUEUE, WORKFLOW } from "../domain/mod.ts";
import {
  listen,
  listUnstartedDeliveries,
  markDeliveryStarted,
  pruneDeliveries,
  WEBHOOKS_QUEUED,
} from "../store/mod.ts";
import type { ActivityParts } from "./parts.ts";
import { createTurnSignal, workerStopping } from "./turns.ts";

/** Interval at which the queue is read although no notification has come. */
const POLL_INTERVAL_MS = 5_000;
const BATCH_SIZE = 100;
/** Days for which deliveries that have ended are listed. */
const RETENTION_DAYS = 30;

/** Creates the activity that starts the deliveries of webhooks. */
export function webhookRelayActivities({ store, temporal, stopping }: ActivityParts) {
  const db = store.asPlatform();

  /**
   * Starts a workflow for each queued delivery, for one turn or until this worker stops. Safe to repeat, and to run in
   * several workers at once: the delivery names its workflow.
   *
   * @throws {ApplicationFailure} benign: this worker stops, and another one takes over
   */
  async function relayWebhooks(): Promise<void> {
    const signal = createTurnSignal(stopping);
    await pruneDeliveries(db, RETENTION_DAYS);
    let wake = () => {};
    const notify = () => wake();
    signal.addEventListener("abort", notify, { once: true });
    const listener = await listen(store, [WEBHOOKS_QUEUED], {
      onNotify: notify,
      onConnect: notify,
    });
    try {
      while (!signal.aborted) {
        const notified = new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, POLL_INTERVAL_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        const queued = await listUnstartedDeliveries(db, BATCH_SIZE);
        await Promise.all(queued.map(startDelivery));
        if (queued.length < BATCH_SIZE) await notified;
      }
    } finally {
      await listener.close();
    }
    if (stopping.aborted) throw workerStopping();
  }

  async function startDelivery(id: string): Promise<void> {
    const { workflow } = await temporal();
    try {
      await workflow.start(WORKFLOW.webhookDelivery, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `webhook-${id}`,
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        args: [id],
        staticSummary: "Delivers a message to a webhook",
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    await markDeliveryStarted(db, id);
  }

  return { relayWebhooks };
}
