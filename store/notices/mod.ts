/**
 * The feed of messages and their deliveries, and webhooks.
 *
 * ```ts
 * const id = await addMessage(trx, { kind, from, subject, text, key });
 * ```
 * @module
 */
export {
  addDelivery,
  addPlannedDeliveries,
  getDelivery,
  listDeliveriesOf,
  listUnstartedNotices,
  markNoticeStarted,
  type MessageDelivery,
  needsPeople,
  recordDelivery,
  routeMessages,
  skipDeliveries,
} from "./message_deliveries.ts";
export {
  addMessage,
  getMessage,
  getMessageByKey,
  getNewestPosition,
  getPositionAt,
  getPositionBefore,
  listMessages,
  listMessagesAfter,
  type Message,
  MESSAGES_ADDED,
  type NewMessage,
} from "./messages.ts";
