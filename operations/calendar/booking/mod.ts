/**
 * Calendars: events that recur by the rules of RFC 5545 on the wall clock of a time zone, and busy time that is exclusive.
 *
 * ```ts
 * const event = await bookEvent(trx, { title: "Review", start: "2026-07-01T09:00", durationMinutes: 30, timeZone: "Europe/Vienna" }, who);
 * await cancelBooking(trx, event.id, who);
 * ```
 *
 * Trusts: the database's exclusion constraint. Doesn't trust: rules, which are checked before they are expanded.
 * @module
 */
export { assertFree, bookEvent, cancelBooking } from "./book.ts";
export { extendSeries } from "./extend.ts";
export { printCalendar, printInvitation } from "./ical.ts";
export { findKeyOfLink, linkOf } from "./link.ts";
export { BOOKED_DAYS, type EventRequest, planEvent } from "./plan.ts";
export { expand } from "./recurrence.ts";
export { parseRule, RuleRefused } from "./rule.ts";
