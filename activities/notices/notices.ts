import { cancellationSignal } from "@temporalio/activity";
import type { NoticeOrder, NoticeResult } from "../../contract/domain/mod.ts";
import { type ChannelEntry, sendNotice, type SendResult } from "../../integrations/channels/mod.ts";
import {
  getDelivery,
  getMessage,
  listDeliveriesOf,
  type Message,
  type MessageDelivery,
  needsPeople,
  recordDelivery,
  skipDeliveries,
} from "../../store/notices/mod.ts";
import { isFlagSet } from "../../store/platform/mod.ts";
import type { TenantParts } from "../parts.ts";
import { mailNotice } from "./mail.ts";
import { pageOf } from "./page.ts";

/** Names a delivery and an attempt. */
export interface NoticeAttempt {
  readonly message_id: string;
  /** Number of the delivery. */
  readonly number: number;
  /** From 1. */
  readonly attempt: number;
}

/** Result of one attempt. */
export interface NoticeAttemptResult extends Pick<SendResult, "state" | "code"> {
  /** Null: the next channel is tried, unless this one has the message. */
  readonly retry_in_seconds: number | null;
}

/** Pauses between the attempts over one channel. After the last, the next channel is tried. */
const PAUSES_SECONDS = [1, 5];

/** Creates the activities that tell people of a message. */
export function noticeActivities(parts: TenantParts) {
  const { store, config, comms } = parts;
  const db = store.db;

  /** Reads in which orders which channels are tried. Safe to repeat: it only reads. */
  async function readNotice(messageId: string): Promise<{ readonly orders: NoticeOrder[] }> {
    const byOrder = new Map<number, MessageDelivery[]>();
    for (const delivery of await listDeliveriesOf(db, messageId)) {
      byOrder.set(delivery.order, [...(byOrder.get(delivery.order) ?? []), delivery]);
    }
    const orders = [...byOrder.values()].map((deliveries) => ({
      deliveries: deliveries.map(({ number }) => number),
      wait_seconds: deliveries[0]!.waitSeconds,
      escalates_after_seconds: deliveries[0]!.escalatesAfterSeconds,
    }));
    return { orders };
  }

  /** Returns true while nobody has acted on what a message asks for. Safe to repeat: it only reads. */
  async function isNoticeNeeded(messageId: string): Promise<boolean> {
    const message = await getMessage(db, messageId);
    return message !== undefined && await needsPeople(db, message);
  }

  /**
   * Makes one attempt. Safe to repeat: the message has the same id each time, and an alarm that comes twice is better than
   * none.
   */
  async function deliverNotice(
    { message_id, number, attempt }: NoticeAttempt,
  ): Promise<NoticeAttemptResult> {
    const [message, delivery] = await Promise.all([
      getMessage(db, message_id),
      getDelivery(db, message_id, number),
    ]);
    if (delivery?.state === "delivered") {
      return { state: "delivered", code: "known", retry_in_seconds: null };
    }
    const inForce = comms();
    if (!inForce) throw new Error("Cannot tell anybody: sealoop.comms.yaml has mistakes");
    const channel = delivery && inForce.get(store.tenant)?.channels[delivery.channel];
    const result = await send(message, channel, number);
    const { state, code } = result;
    const retry_in_seconds = result.isFinal ? null : PAUSES_SECONDS[attempt - 1] ?? null;
    const isLast = retry_in_seconds === null;
    await recordDelivery(db, message_id, number, { state, code, attempt, isLast });
    return { state, code, retry_in_seconds };
  }

  async function send(
    message: Message | undefined,
    channel: ChannelEntry | undefined,
    number: number,
  ): Promise<SendResult> {
    if (!message || !channel) {
      return { state: "not_delivered", code: "no_such_channel", isFinal: true };
    }
    const notice = { ...message, link: pageOf(parts.urls.gateway, message.refs) };
    if ("email" in channel) return await mailNotice(parts, notice, number, channel.email.to);
    if ("webhook" in channel && await isFlagSet(db, "pause_webhooks")) {
      return { state: "not_delivered", code: "paused", isFinal: true }; // others are told over other channels
    }
    return await sendNotice(config, channel, notice, cancellationSignal());
  }

  /** Marks the deliveries that were not needed, and counts all by their states. Safe to repeat. */
  async function endNotice(messageId: string): Promise<NoticeResult> {
    await skipDeliveries(db, messageId);
    const states = (await listDeliveriesOf(db, messageId)).map(({ state }) => state);
    const count = (name: string) => states.filter((state) => state === name).length;
    return {
      delivered: count("delivered"),
      not_delivered: count("not_delivered"),
      unknown: count("unknown"),
      skipped: count("skipped"),
    };
  }

  return { readNotice, isNoticeNeeded, deliverNotice, endNotice };
}
