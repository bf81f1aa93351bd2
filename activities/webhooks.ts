import { cancellationSignal } from "@temporalio/activity";
import type { DeliveryResult } from "../contract/domain/mod.ts";
import { openHttpClient, OutboundFailed, OutboundRefused } from "../integrations/http/mod.ts";
import { openSecretBox, signWebhook } from "../integrations/webhooks/mod.ts";
import { holdWhile } from "./_pause.ts";
import type { ActivityParts } from "./parts.ts";
import {
  disableWebhook,
  getOutgoingDelivery,
  type OutgoingDelivery,
  recordDeliveryAttempt,
} from "../store/webhooks/mod.ts";

const RESPONSE_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Status by which a receiver says that it is gone for good. */
const GONE = 410;

/** Result of one attempt. */
export interface AttemptResult extends Pick<DeliveryResult, "state" | "code"> {
  /** Null: the delivery has ended. */
  readonly retry_in_seconds: number | null;
}

/** Response of a receiver, or the reason that there is none. */
interface SendResult {
  /** HTTP status; null: no response. */
  readonly status: number | null;
  readonly error: string | null;
  /** True: another attempt is useless. */
  readonly isFinal: boolean;
}

/** Creates the activity that delivers webhooks. */
export function webhookActivities({ store, config, timing }: ActivityParts) {
  const db = store.db;
  const { SEALOOP_OUTBOUND_ALLOW: allow, SEALOOP_WEBHOOK_PAUSES: pauses } = config.settings;
  const http = openHttpClient({ allow });
  const secretBox = openSecretBox(config);

  /**
   * Makes one attempt. Only a 2xx status is a success, and an address that is not allowed is not tried again. Safe to
   * repeat: the receiver may get the message twice, and recognizes it by its id. While the flag `pause_webhooks` is set, it
   * waits.
   */
  async function deliverWebhook(
    { delivery_id, attempt }: { readonly delivery_id: string; readonly attempt: number },
  ): Promise<AttemptResult> {
    const delivery = await getOutgoingDelivery(db, delivery_id);
    if (!delivery) return { state: "dead", code: "unknown_delivery", retry_in_seconds: null };
    if (delivery.state !== "queued") {
      return { state: delivery.state, code: "known", retry_in_seconds: null };
    }
    if (!delivery.disabled) await holdWhile("pause_webhooks", { store, timing });
    const { status, error, isFinal } = delivery.disabled
      ? failure("webhook_disabled", { isFinal: true })
      : await send(delivery_id, delivery);
    const isDelivered = status !== null && status >= 200 && status < 300;
    if (status === GONE) await disableWebhook(db, delivery.webhookId);
    const pause = pauses[attempt - 1];
    const isOver = isDelivered || isFinal || status === GONE || pause === undefined;
    const retry_in_seconds = isOver ? null : pause;
    const state = isDelivered ? "delivered" : isOver ? "dead" : "queued";
    const code = error ?? `status_${status}`;
    await recordDeliveryAttempt(db, delivery_id, {
      number: attempt,
      state,
      status,
      error: isDelivered ? null : code,
      retryInSeconds: retry_in_seconds,
    });
    return { state, code, retry_in_seconds };
  }

  async function send(
    id: string,
    { url, secret, body, webhookId }: OutgoingDelivery,
  ): Promise<SendResult> {
    const key = decrypt(secret, url);
    if (key === undefined) return failure("secret_unreadable", { isFinal: false });
    try {
      const { status } = await http.request(url, {
        method: "POST",
        headers: {
          ...signWebhook(id, new Date(), body, key),
          "content-type": "application/json",
          "user-agent": "sealoop-webhooks/1",
          "x-sealoop-webhook": webhookId,
        },
        body,
        timeoutMs: RESPONSE_TIMEOUT_MS,
        maxBytes: MAX_RESPONSE_BYTES,
        signal: cancellationSignal(),
      });
      return { status, error: null, isFinal: false };
    } catch (error) {
      if (error instanceof OutboundRefused) {
        return failure(`refused_${error.code}`, { isFinal: true });
      }
      if (error instanceof OutboundFailed) return failure(error.code, { isFinal: false });
      throw error;
    }
  }

  /** Decrypts a webhook's secret; undefined if the key file is another one, which an operator can restore. */
  function decrypt(secret: Buffer, url: string): string | undefined {
    try {
      return secretBox.open(secret, url);
    } catch {
      return undefined;
    }
  }

  return { deliverWebhook };
}

function failure(error: string, { isFinal }: { readonly isFinal: boolean }): SendResult {
  return { status: null, error, isFinal };
}
