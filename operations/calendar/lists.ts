import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { dateIn, dayBounds, InvalidInput, parseTime } from "../../contract/mod.ts";
import { linkOf } from "./booking/mod.ts";
import { listOccurrences } from "../../store/calendar/mod.ts";
import { Limit, Timestamp } from "../schemas/mod.ts";
import { CalendarName, Event, exampleEvent, TimeZone, toEvent } from "./_event.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Days that are listed where no end is given. */
const DEFAULT_DAYS = 31;
const MAX_DAYS = 366;
/** Events of one day that are listed. */
const MAX_TODAY = 200;

const Day = z.string().min(1).max(40);
const Occurrences = z.array(Event).describe(
  "In the order of their starts; a recurring event once for each occurrence, with its own start and end",
);

/** Events within a span of time. */
export const eventList = operation({
  name: "calendar.list",
  group: "people",
  summary: "List events within a span of time, the earliest first",
  description:
    "Where `total` is more than what is listed, list again from the start of the last one.",
  effect: "read",
  access: "key",
  input: z.object({
    from_date: Day.optional().describe(
      "A date as 2026-07-01, or a time; default: the start of today",
    ),
    to_date: Day.optional().describe(
      `A date, which is included, or a time; default: ${DEFAULT_DAYS} days after the start, and at most ${MAX_DAYS}`,
    ),
    time_zone: TimeZone.default("UTC").describe("IANA name of the zone in which a date begins"),
    calendar: CalendarName.optional().describe("Only events of this calendar"),
    limit: Limit,
  }),
  output: z.object({
    total: z.number().int().describe("Occurrences within the span"),
    from: Timestamp,
    to: Timestamp.describe("Not included"),
    events: Occurrences,
    feed_url: z.string().describe(
      "Address for calendar programs to subscribe to. Whoever has it reads your organization's calendar, until your key " +
        "ends or the operator renews the link",
    ),
  }),
  rest: { calendar_list: "GET /v1/calendar/events" },
  presentation: { untrusted: true },
  example: {
    input: { from_date: "2026-07-06", to_date: "2026-07-12", time_zone: "Europe/Vienna" },
    output: {
      total: 1,
      from: "2026-07-05T22:00:00.000Z",
      to: "2026-07-12T22:00:00.000Z",
      events: [exampleEvent],
      feed_url:
        "https://gateway.example.com/calendar/1f0c7b5a9d3e4820-9Uq2Qd0r4R2cB1oJ3m5cV8xk7w6tYpLhNzEaSfGjKiM.ics",
    },
  },
  run: async (input, { store, caller, urls }) => {
    const { from_date, to_date, time_zone, calendar, limit } = input;
    const start = readBound("from_date", from_date ?? dateIn(new Date(), time_zone), time_zone);
    const end = to_date === undefined
      ? new Date(start.getTime() + DEFAULT_DAYS * DAY_MS)
      : readBound("to_date", to_date, time_zone);
    if (end <= start) throw refused("to_date", "The end must be after the start");
    if (end.getTime() - start.getTime() > (MAX_DAYS + 1) * DAY_MS) {
      throw refused("to_date", `The span must have at most ${MAX_DAYS} days`);
    }
    const { total, events } = await listOccurrences(store.db, { start, end }, { calendar, limit });
    return {
      total,
      from: start.toISOString(),
      to: end.toISOString(),
      events: events.map(toEvent),
      feed_url: `${urls.gateway}/calendar/${await linkOf(store, caller.keyId!)}.ics`,
    };
  },
});

/** Events of today. */
export const today = operation({
  name: "calendar.today",
  group: "people",
  summary: "List the events of today, the earliest first",
  effect: "read",
  access: "key",
  input: z.object({
    time_zone: TimeZone.default("UTC").describe("IANA name of the zone whose day it is"),
    calendar: CalendarName.optional().describe("Only events of this calendar"),
  }),
  output: z.object({
    date: z.string().describe("Today in the time zone"),
    time_zone: z.string(),
    total: z.number().int(),
    events: Occurrences,
  }),
  rest: { calendar_today: "GET /v1/calendar/today" },
  presentation: { untrusted: true },
  example: {
    input: { time_zone: "Europe/Vienna" },
    output: {
      date: "2026-07-06",
      time_zone: "Europe/Vienna",
      total: 1,
      events: [exampleEvent],
    },
  },
  run: async ({ time_zone, calendar }, { store }) => {
    const date = dateIn(new Date(), time_zone);
    const { total, events } = await listOccurrences(store.db, dayBounds(date, time_zone), {
      calendar,
      limit: MAX_TODAY,
    });
    return { date, time_zone, total, events: events.map(toEvent) };
  },
});

/** Returns a bound of a span. A date begins with its first moment, and as an end it is included. */
function readBound(field: "from_date" | "to_date", text: string, timeZone: string): Date {
  try {
    if (!/^\d{4}-\d\d-\d\d$/.test(text)) return parseTime(text, timeZone);
    return dayBounds(text, timeZone)[field === "from_date" ? "start" : "end"];
  } catch {
    throw refused(field, "Expected a date as 2026-07-01, or a time as 2026-07-01T09:00:00+02:00");
  }
}

function refused(field: string, msg: string): InvalidInput {
  return new InvalidInput([{ path: [field], msg, type: "value_error" }]);
}
