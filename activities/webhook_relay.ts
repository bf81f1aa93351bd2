import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { TASK_QUEUE, tenantAttribute, WORKFLOW } from "../domain/mod.ts";
import {
  type Db,
  listen,
  listTenants,
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
  /**
   * Starts a workflow for each queued delivery of any tenant, for one turn or until this worker stops. Safe to repeat, and to run in
   * several workers at once: the delivery names its workflow.
   *
   * @throws {ApplicationFailure} benign: this worker stops, and another one takes over
   */
  async function relayWebhooks(): Promise<void> {
    const signal = createTurnSignal(stopping);
    for (const tenant of await listTenants(store.db)) {
      await pruneDeliveries(store.asTenant(tenant), RETENTION_DAYS);
    }
    const waiting = new Set<string>(); // tenants that have told of new deliveries
    let wake = () => {};
    const notify = () => wake();
    signal.addEventListener("abort", notify, { once: true });
    const listener = await listen(store, [WEBHOOKS_QUEUED], {
      onNotify(_, tenant) {
        waiting.add(tenant);
        wake();
      },
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
        const tenants = waiting.size > 0 ? [...waiting] : await listTenants(store.db);
        waiting.clear();
        for (const tenant of tenants) {
          if (await startDeliveries(store.asTenant(tenant)) === BATCH_SIZE) waiting.add(tenant);
        }
        if (waiting.size === 0) await notified;
      }
    } finally {
      await listener.close();
    }
    if (stopping.aborted) throw workerStopping();
  }

  /** @returns how many */
  async function startDeliveries(db: Db): Promise<number> {
    const queued = await listUnstartedDeliveries(db, BATCH_SIZE);
    await Promise.all(queued.map((id) => startDelivery(db, id)));
    return queued.length;
  }

  async function startDelivery(db: Db, id: string): Promise<void> {
    const { workflow } = await temporal();
    try {
      await workflow.start(WORKFLOW.webhookDelivery, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `webhook-${id}`,
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        args: [id],
        typedSearchAttributes: [tenantAttribute(db.tenant)],
        staticSummary: "Delivers a message to a webhook",
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    await markDeliveryStarted(db, id);
  }

  return { relayWebhooks };
}
