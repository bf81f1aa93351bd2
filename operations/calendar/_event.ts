import { z } from "zod";
import { type Caller, findTimeZone, printTime } from "../../contract/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { BOOKED_DAYS } from "./booking/mod.ts";
import { normalizeEmail } from "../../store/mod.ts";
import { EVENT_KINDS, type EventKind, type EventRecord } from "../../store/calendar/mod.ts";
import { text, Timestamp, trimmedText } from "../schemas/mod.ts";

/** Id of an event. */
export const EventId = z.string()
  .regex(/^EVT-[0-9a-f]{12}$/, "Expected EVT- and 12 hex characters")
  .describe("Id of the event, such as EVT-7a30b1c94d2e");

/** Name of a time zone. */
export const TimeZone = z.string().min(1).max(64)
  .refine((name) => findTimeZone(name) !== undefined, {
    error: "Expected the IANA name of a time zone, as Europe/Vienna or UTC",
  });

/** Name of a calendar. */
export const CalendarName = z.string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "Expected a-z, 0-9 and hyphens, at most 40");

const Time = z.string().min(1).max(40);

/** Fields of an event that somebody books. */
export const EVENT_FIELDS = {
  title: trimmedText(1, 200),
  start: Time.describe(
    "ISO 8601 with offset; without an offset it is on the wall clock of `time_zone`. Of two such times it is the earlier one, and a time that clocks skip is refused",
  ),
  end: Time.optional().describe("Likewise; give either this or `duration_minutes`"),
  duration_minutes: z.number().int().min(1).max(366 * 24 * 60).optional(),
  time_zone: TimeZone.default("UTC").describe(
    "IANA name. A recurring event keeps its time on this zone's wall clock",
  ),
  rrule: z.string().min(1).max(300).nullable().default(null).describe(
    "Rule of RFC 5545, as `FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10`: DAILY, WEEKLY, MONTHLY or YEARLY, no BYHOUR, BYMINUTE or BYSECOND, COUNT at most 1000",
  ),
  kind: z.enum(EVENT_KINDS).default("meeting").describe(
    "freeze: each change needs a person meanwhile; maintenance: repairs wait until its end. Both are booked and cancelled by `may_approve` keys of the tenant `platform` alone",
  ),
  calendar: CalendarName.default("main").describe("Busy time is exclusive within a calendar"),
  busy: z.boolean().optional().describe("True: its time is exclusive. Default: true for meetings"),
  location: text(0, 200).default(""),
  attendees: z.array(
    z.string().min(3).max(254).refine((address) => normalizeEmail(address) !== undefined, {
      error: "Expected an e-mail address, as ada@example.com",
    }),
  ).max(100).default([]).describe("E-mail addresses"),
  services: z.array(z.string().min(1).max(100)).max(50).default([]).describe(
    "Services whose repairs a maintenance holds back; none: those of all. Only for maintenance",
  ),
  contact_id: z.string().regex(/^CON-[0-9a-f]{12}$/, "Expected CON- and 12 hex characters")
    .nullable().default(null),
};

/** An event, or one occurrence of it. */
export const Event = z.object({
  event_id: EventId,
  uid: z.string().describe("UID of iCalendar"),
  sequence: z.number().int().describe("SEQUENCE of iCalendar; grows with each change"),
  title: z.string(),
  start: Timestamp.describe("On the time zone's wall clock, with its offset"),
  end: Timestamp,
  time_zone: z.string(),
  rrule: z.string().nullable().describe("Null: it takes place once"),
  kind: z.enum(EVENT_KINDS),
  calendar: z.string(),
  busy: z.boolean(),
  location: z.string(),
  attendees: z.array(z.string()),
  services: z.array(z.string()),
  contact_id: z.string().nullable(),
  booked_until: Timestamp.nullable().describe(
    `A series is booked ${BOOKED_DAYS} days ahead, and further as time goes on. Null: all occurrences are`,
  ),
  created_at: Timestamp,
  cancelled_at: Timestamp.nullable(),
}).meta({ id: "Event" });

/** An event, in examples. */
export const exampleEvent = {
  event_id: "EVT-7a30b1c94d2e",
  uid: "evt-7a30b1c94d2e-1f0c2b3a4d5e6f70@sealoop",
  sequence: 0,
  title: "Weekly review",
  start: "2026-07-06T09:00:00+02:00",
  end: "2026-07-06T09:30:00+02:00",
  time_zone: "Europe/Vienna",
  rrule: "FREQ=WEEKLY",
  kind: "meeting",
  calendar: "main",
  busy: true,
  location: "Room 2",
  attendees: ["ada@example.com"],
  services: [],
  contact_id: null,
  booked_until: "2027-07-07T07:00:00.000Z",
  created_at: "2026-07-01T12:00:00.000Z",
  cancelled_at: null,
} as const satisfies z.output<typeof Event>;

/** Returns an event as it is shown. */
export function toEvent(event: EventRecord): z.output<typeof Event> {
  return {
    event_id: event.id,
    uid: event.uid,
    sequence: event.sequence,
    title: event.title,
    start: printTime(event.start, event.timeZone),
    end: printTime(event.end, event.timeZone),
    time_zone: event.timeZone,
    rrule: event.rrule,
    kind: event.kind,
    calendar: event.calendar,
    busy: event.busy,
    location: event.location,
    attendees: [...event.attendees],
    services: [...event.services],
    contact_id: event.contactId,
    booked_until: event.expandedUntil?.toISOString() ?? null,
    created_at: event.createdAt.toISOString(),
    cancelled_at: event.cancelledAt?.toISOString() ?? null,
  };
}

/** Refuses freezes and maintenance to all but people of the operator. @throws {Problem} `Forbidden` */
export function assertMayHold(kind: EventKind, { tenant, mayApprove }: Caller): void {
  if (kind === "meeting" || tenant === PLATFORM_TENANT && mayApprove) return;
  throw new Problem(
    "Forbidden",
    `A ${kind} is booked and cancelled by people of the operator: with a key of the tenant ${PLATFORM_TENANT} that may approve`,
  );
}
