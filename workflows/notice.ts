import { setCurrentDetails, sleep } from "@temporalio/workflow";
import type { NoticeOrder, NoticeResult } from "../contract/domain/mod.ts";
import { LONG, perform, QUICK, REMOTE } from "./_options.ts";

/**
 * Tells people of one message over other channels than the feed, by the rules of its tenant. Its id is
 * `notice-<message id>`. Where it is uncertain whether a channel has the message, it is repeated under the same id, and then
 * the next channel is tried.
 */
export async function notice(messageId: string): Promise<NoticeResult> {
  const { orders } = await perform(QUICK, "Reads who is told").readNotice(messageId);
  await Promise.all(orders.map((order) => follow(messageId, order)));
  const result = await perform(QUICK, "Counts the deliveries").endNotice(messageId);
  setCurrentDetails(
    `**${result.delivered} delivered** · ${result.unknown} unknown · ${result.not_delivered} not delivered`,
  );
  return result;
}

async function follow(messageId: string, order: NoticeOrder): Promise<void> {
  const { deliveries, wait_seconds, escalates_after_seconds } = order;
  const seconds = wait_seconds + (escalates_after_seconds ?? 0);
  if (seconds > 0) {
    await sleep(seconds * 1_000);
    const isNeeded = await perform(QUICK, "Looks whether somebody has acted")
      .isNoticeNeeded(messageId);
    if (!isNeeded) return;
  }
  for (const number of deliveries) if (await deliver(messageId, number)) return;
}

/** @returns true once the channel has the message */
async function deliver(message_id: string, number: number): Promise<boolean> {
  for (let attempt = 1;; attempt++) {
    const { state, retry_in_seconds } = await perform(
      REMOTE,
      `Delivery ${number}, attempt ${attempt}`,
    )
      .deliverNotice({ message_id, number, attempt });
    if (state === "delivered") return true;
    if (retry_in_seconds === null) return false;
    await sleep(retry_in_seconds * 1_000);
  }
}

/**
 * Tells people of what is due, seals the heartbeats of devices, and has the ways between them measured, when that is due. A
 * schedule runs it every minute.
 */
export async function tellDue(): Promise<{ readonly messages: number }> {
  const messages = await perform(LONG, "Asks what is due and not yet told").tellWhatIsDue();
  await perform(LONG, "Seals the heartbeats of ten minutes").sealHeartbeats();
  await perform(LONG, "Has ways between devices measured").orderMeasurements();
  return { messages };
}
