import { join } from "node:path";
import { openHttpClient, OutboundFailed, OutboundRefused } from "../integrations/http/mod.ts";
import { openSecretBox, signWebhook, WEBHOOK_KEY_FILE } from "../integrations/webhooks/mod.ts";
import {
  disableWebhook,
  pruneDeliveries,
  getOutgoingDelivery,
  listen,
  listUnstartedDeliveries,
  markDeliveryStarted,
  type OutgoingDelivery,
  recordDeliveryAttempt,
  WEBHOOKS_QUEUED,
} from "../store/mod.ts";
import { type DeliveryResult, TASK_QUEUE, WORKFLOW } from "../domain/mod.ts";
import { cancellationSignal } from "@temporalio/activity";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { createTimeoutSignal } from "../contract/mod.ts";
import type { ActivityParts } from "./_parts.ts";
import { takenOver } from "./sequencer.ts";

/** Less than the hour that the activity is given, so that it ends by itself. */
const TURN_MS = 55 * 60_000;
/** Looks this often although nothing was heard, milliseconds. */
const POLL_MS = 5_000;
const AT_ONCE = 100;
const ANSWER_MS = 15_000;
const MOST_ANSWER = 64 * 1024;
/** Days that what was delivered or given up is listed. */
const KEPT_DAYS = 30;
/** The receiver says that it is gone for good. */
const GONE = 410;

/** How one attempt went. */
export interface Attempted extends Pick<DeliveryResult, "state" | "code"> {
  /** Null: it has ended. */
  readonly retry_in_seconds: number | null;
}

/** Telling others of tickets. */
export function webhooks({ store, config, temporal, stopping }: ActivityParts) {
  const { SEALOOP_OUTBOUND_ALLOW: allow, SEALOOP_WEBHOOK_PAUSES: pauses } = config.settings;
  const http = openHttpClient({ allow });
  const box = openSecretBox(join(config.dataDir, WEBHOOK_KEY_FILE));

  /**
   * Makes one attempt. Repeated, the receiver may be told twice; it knows by the message's id. A redirect is a failure
   * like any other answer that is not 2xx, and an address that may not be reached is not tried again.
   */
  async function deliverWebhook(
    { delivery_id, attempt }: { delivery_id: string; attempt: number },
  ): Promise<Attempted> {
    const due = await getOutgoingDelivery(store.asPlatform(), delivery_id);
    if (!due) return { state: "dead", code: "unknown_delivery", retry_in_seconds: null };
    if (due.state !== "queued") return { state: due.state, code: "known", retry_in_seconds: null };
    const { status, error, final } = due.disabled
      ? { status: null, error: "webhook_disabled", final: true }
      : await send(delivery_id, due);
    const delivered = status !== null && status >= 200 && status < 300;
    if (status === GONE) await disableWebhook(store.asPlatform(), due.webhookId);
    const pause = pauses[attempt - 1];
    const over = delivered || final || status === GONE || pause === undefined;
    const retry_in_seconds = over ? null : pause;
    const state = delivered ? "delivered" : over ? "dead" : "queued";
    await recordDeliveryAttempt(store.asPlatform(), delivery_id, {
      number: attempt,
      state,
      status,
      error: delivered ? null : error ?? `status_${status}`,
      retryInSeconds: retry_in_seconds,
    });
    return { state, code: error ?? `status_${status}`, retry_in_seconds };
  }

  async function send(id: string, { url, secret, body, webhookId }: OutgoingDelivery) {
    const key = opened(secret, url);
    if (key === undefined) return { status: null, error: "secret_unreadable", final: false };
    const headers = signWebhook(id, new Date(), body, key);
    try {
      const { status } = await http.request(url, {
        method: "POST",
        headers: {
          ...headers,
          "content-type": "application/json",
          "user-agent": "sealoop-webhooks/1",
          "x-sealoop-webhook": webhookId,
        },
        body,
        timeoutMs: ANSWER_MS,
        maxBytes: MOST_ANSWER,
        signal: cancellationSignal(),
      });
      return { status, error: null, final: false };
    } catch (error) {
      if (error instanceof OutboundRefused) {
        return { status: null, error: `refused_${error.code}`, final: true };
      }
      if (error instanceof OutboundFailed) return { status: null, error: error.code, final: false };
      throw error;
    }
  }

  /** Undefined: the key's file is not the one that it was encrypted with, which an operator can mend within the day. */
  function opened(secret: Buffer, url: string): string | undefined {
    try {
      return box.open(secret, url);
    } catch {
      return undefined;
    }
  }

  /**
   * Starts a workflow for all that is queued, for about an hour or until this worker stops. Safe to repeat, and by several
   * at once: the delivery names its workflow.
   *
   * @throws where this worker stops, so that another takes over
   */
  async function relayWebhooks(): Promise<void> {
    const signal = AbortSignal.any([stopping, cancellationSignal(), createTimeoutSignal(TURN_MS)]);
    await pruneDeliveries(store.asPlatform(), KEPT_DAYS);
    let wake = () => {};
    signal.addEventListener("abort", () => wake(), { once: true });
    const listener = await listen(store, [WEBHOOKS_QUEUED], {
      onNotify: () => wake(),
      onConnect: () => wake(),
    });
    try {
      while (!signal.aborted) {
        const heard = new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, POLL_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        const waiting = await listUnstartedDeliveries(store.asPlatform(), AT_ONCE);
        await Promise.all(waiting.map(startDelivery));
        if (waiting.length < AT_ONCE) await heard;
      }
    } finally {
      await listener.close();
    }
    if (stopping.aborted) throw takenOver();
  }

  async function startDelivery(id: string): Promise<void> {
    try {
      await (await temporal()).workflow.start(WORKFLOW.webhookDelivery, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `webhook-${id}`,
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        args: [id],
        staticSummary: "Tells a webhook of a ticket",
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    await markDeliveryStarted(store.asPlatform(), id);
  }

  return { deliverWebhook, relayWebhooks };
}
