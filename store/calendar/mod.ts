/**
 * Calendars and the board of tasks.
 *
 * ```ts
 * const busy = await findBusySpans(db, "platform", spans);
 * ```
 * @module
 */
export {
  cancelEvent,
  EVENT_KINDS,
  type EventKind,
  type EventRecord,
  getEvent,
  listEventsSince,
  listEventsToExtend,
  listOccurrences,
  type NewEvent,
  putEvent,
  putOccurrences,
  recordExtension,
  type Span,
} from "./calendar.ts";
export { findMaintenance, type Freeze, listActiveFreezes } from "./calendar_holds.ts";
export { getLinkGeneration, renewLink } from "./calendar_links.ts";
export { type BusySpan, findBusySpans, lockCalendar } from "./busy_time.ts";
