import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { TASK_QUEUE, tenantAttribute, WORKFLOW } from "../contract/domain/mod.ts";
import { planDeliveries } from "../integrations/channels/mod.ts";
import { type Db, listen } from "../store/mod.ts";
import { pruneSignIns } from "../store/people/mod.ts";
import { listTenants } from "../store/keys/mod.ts";
import {
  listUnstartedNotices,
  markNoticeStarted,
  MESSAGES_ADDED,
  routeMessages,
} from "../store/notices/mod.ts";
import { isFlagSet } from "../store/platform/mod.ts";
import type { TenantParts } from "./parts.ts";
import { createTurnSignal, workerStopping } from "./turns.ts";
import {
  listUnstartedDeliveries,
  markDeliveryStarted,
  pruneDeliveries,
  WEBHOOKS_QUEUED,
} from "../store/webhooks/mod.ts";

const BATCH_SIZE = 100;
/** Days for which deliveries that have ended are listed. */
const RETENTION_DAYS = 30;

/** A workflow that makes deliveries. */
interface Start {
  readonly type: typeof WORKFLOW.webhookDelivery | typeof WORKFLOW.notice;
  readonly workflowId: string;
  readonly arg: string;
  readonly summary: string;
}

/** Creates the activity that starts the deliveries to webhooks and to people. */
export function relayActivities({ store, temporal, timing, stopping, comms }: TenantParts) {
  /**
   * Starts a workflow for each queued delivery to a webhook, and for each message that people are to be told of, of any
   * tenant; for one turn or until this worker stops. Safe to repeat, and to run in several workers at once: the delivery
   * and the message name their workflow.
   *
   * @throws {ApplicationFailure} benign: this worker stops, and another one takes over
   */
  async function runRelay(): Promise<void> {
    const signal = createTurnSignal(stopping);
    for (const tenant of await listTenants(store.db)) {
      const db = store.asTenant(tenant);
      await Promise.all([pruneDeliveries(db, RETENTION_DAYS), pruneSignIns(db, RETENTION_DAYS)]);
    }
    const waiting = new Set<string>(); // tenants that have told of new deliveries or messages
    let wake = () => {};
    const notify = () => wake();
    signal.addEventListener("abort", notify, { once: true });
    const listener = await listen(store, [WEBHOOKS_QUEUED, MESSAGES_ADDED], {
      onNotify(_, tenant) {
        waiting.add(tenant);
        wake();
      },
      onConnect: notify,
    });
    try {
      while (!signal.aborted) {
        const notified = new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timing.queues);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        const tenants = waiting.size > 0 ? [...waiting] : await listTenants(store.db);
        waiting.clear();
        for (const tenant of tenants) {
          const db = store.asTenant(tenant);
          const [isMore, areMore] = [await startDeliveries(db), await startNotices(db)];
          if (isMore || areMore) waiting.add(tenant);
        }
        if (waiting.size === 0) await notified;
      }
    } finally {
      await listener.close();
    }
    if (stopping.aborted) throw workerStopping();
  }

  /** Starts none while the flag `pause_webhooks` is set. @returns true if there may be more */
  async function startDeliveries(db: Db): Promise<boolean> {
    if (await isFlagSet(db, "pause_webhooks")) return false;
    const queued = await listUnstartedDeliveries(db, BATCH_SIZE);
    await Promise.all(queued.map(async (id) => {
      const summary = "Delivers a message to a webhook";
      const type = WORKFLOW.webhookDelivery;
      await start(db, { type, workflowId: `webhook-${id}`, arg: id, summary });
      await markDeliveryStarted(db, id);
    }));
    return queued.length === BATCH_SIZE;
  }

  /** @returns true if there may be more */
  async function startNotices(db: Db): Promise<boolean> {
    if (!comms()) return false; // messages wait until somebody has put the file right
    const areMore = await routeMessages(db, (message) => {
      const section = comms()?.get(db.tenant); // as it is now: it may have changed before the message was written
      return section ? planDeliveries(section, message, new Date()) : [];
    });
    const unstarted = await listUnstartedNotices(db, BATCH_SIZE);
    await Promise.all(unstarted.map(async (id) => {
      const summary = "Tells people of a message";
      await start(db, { type: WORKFLOW.notice, workflowId: `notice-${id}`, arg: id, summary });
      await markNoticeStarted(db, id);
    }));
    return areMore || unstarted.length === BATCH_SIZE;
  }

  async function start(db: Db, { type, workflowId, arg, summary }: Start): Promise<void> {
    const { workflow } = await temporal();
    try {
      await workflow.start(type, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId,
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        args: [arg],
        typedSearchAttributes: [tenantAttribute(db.tenant)],
        staticSummary: summary,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  return { runRelay };
}
