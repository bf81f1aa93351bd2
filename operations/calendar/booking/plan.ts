import { findTimeZone, InvalidInput, NoSuchTime, parseTime } from "../../../contract/mod.ts";
import type { EventKind, NewEvent, Span } from "../../../store/calendar/mod.ts";
import { expand, recurs, type Series } from "./recurrence.ts";
import { parseRule, RuleRefused } from "./rule.ts";

/** Days for which the occurrences of a series are booked ahead. */
export const BOOKED_DAYS = 366;

/** An event as somebody asks for it. */
export interface EventRequest {
  readonly title: string;
  /** ISO 8601 with offset; without one it is on the wall clock of the time zone. */
  readonly start: string;
  /** Likewise. Either this or `durationMinutes` is given. */
  readonly end?: string | undefined;
  readonly durationMinutes?: number | undefined;
  /** IANA name. Default: UTC. */
  readonly timeZone?: string | undefined;
  readonly rrule?: string | null | undefined;
  readonly kind?: EventKind | undefined;
  /** Default: `main`. */
  readonly calendar?: string | undefined;
  readonly location?: string | undefined;
  readonly attendees?: readonly string[] | undefined;
  readonly services?: readonly string[] | undefined;
  readonly contactId?: string | null | undefined;
  /** Default: true for meetings. */
  readonly busy?: boolean | undefined;
}

/** An event that can be booked, but for time that is taken. */
export interface PlannedEvent {
  readonly event: Omit<NewEvent, "id" | "uid" | "createdBy">;
  readonly occurrences: readonly Span[];
}

const DAY_MS = 24 * 60 * 60_000;
const MAX_DAYS = 366;
const MAX_MAINTENANCE_DAYS = 14;
/** Years between now and the start of a series, which is expanded from there. */
const MAX_YEARS = 5;
const FIRST_START = Date.parse("1970-01-01T00:00:00Z");
const LAST_START = Date.parse("2200-01-01T00:00:00Z");

/**
 * Plans an event: resolves its times and expands its rule.
 *
 * @param now by the database's clock
 * @throws {InvalidInput} naming each wrong field
 */
export function planEvent(request: EventRequest, now: Date): PlannedEvent {
  const timeZone = findTimeZone(request.timeZone ?? "UTC");
  if (!timeZone) {
    refuse("time_zone", "Expected the IANA name of a time zone, as Europe/Vienna or UTC");
  }
  const start = readTime("start", request.start, timeZone);
  const end = readEnd(request, start, timeZone);
  checkSpan({ start, end }, now, Boolean(request.rrule));
  const kind = request.kind ?? "meeting";
  const services = request.services ?? [];
  if (kind === "maintenance" && end.getTime() - start.getTime() > MAX_MAINTENANCE_DAYS * DAY_MS) {
    refuse(
      "end",
      `A maintenance lasts at most ${MAX_MAINTENANCE_DAYS} days, as repairs wait for its end`,
    );
  }
  if (services.length > 0 && kind !== "maintenance") {
    refuse("services", `Only a maintenance names services; a ${kind} has none`);
  }
  const busy = request.busy ?? kind === "meeting";
  const series = { start, end, timeZone, rrule: request.rrule ?? null };
  const { occurrences, rrule, expandedUntil } = readSeries(series, busy, now);
  if (kind !== "meeting") {
    checkHolds({ ...series, rrule }, kind, { occurrences, expandedUntil }, now);
  }
  return {
    occurrences,
    event: {
      title: request.title,
      kind,
      calendar: request.calendar ?? "main",
      start,
      end,
      timeZone,
      rrule,
      location: request.location ?? "",
      attendees: request.attendees ?? [],
      services,
      contactId: request.contactId ?? null,
      busy,
      expandedUntil,
    },
  };
}

/** Returns the end of the time for which occurrences are booked. @param now by the database's clock */
export function bookingHorizon({ start }: Pick<Span, "start">, now: Date): Date {
  return new Date(Math.max(start.getTime(), now.getTime()) + BOOKED_DAYS * DAY_MS);
}

function readSeries(series: Series, busy: boolean, now: Date) {
  try {
    const rrule = series.rrule === null ? null : parseRule(series.rrule);
    const horizon = bookingHorizon(series, now);
    const { spans, hasMore } = expand({ ...series, rrule }, { start: series.start, end: horizon });
    const overlap = spans.find(({ start }, n) => n > 0 && start < spans[n - 1]!.end);
    if (busy && overlap) throw new RuleRefused("The event would overlap its own next occurrence");
    return { occurrences: spans, rrule, expandedUntil: hasMore ? horizon : null };
  } catch (error) {
    if (!(error instanceof RuleRefused)) throw error;
    refuse("rrule", error.message);
  }
}

/** Refuses a freeze or a maintenance that would never hold. */
function checkHolds(
  series: Series,
  kind: EventKind,
  { occurrences, expandedUntil }: { occurrences: readonly Span[]; expandedUntil: Date | null },
  now: Date,
): void {
  if (series.rrule !== null && !recurs(series)) {
    refuse("rrule", `The rule gives no day, so the ${kind} would never hold by it; leave it out`);
  }
  const last = occurrences.at(-1);
  if (expandedUntil === null && last && last.end <= now) {
    const field = series.rrule === null ? "end" : "rrule";
    refuse(field, `The ${kind} would be over already, as it ends at ${last.end.toISOString()}`);
  }
}

function readTime(field: string, text: string, timeZone: string): Date {
  try {
    return parseTime(text, timeZone);
  } catch (error) {
    const isGap = error instanceof NoSuchTime;
    refuse(
      field,
      isGap
        ? error.message
        : "Expected a time, as 2026-07-01T09:00:00+02:00, or 2026-07-01T09:00 on the time zone's wall clock",
    );
  }
}

function readEnd({ end, durationMinutes }: EventRequest, start: Date, timeZone: string): Date {
  if ((end === undefined) === (durationMinutes === undefined)) {
    refuse("end", "Give either end or duration_minutes");
  }
  if (end !== undefined) return readTime("end", end, timeZone);
  return new Date(start.getTime() + durationMinutes! * 60_000);
}

function checkSpan({ start, end }: Span, now: Date, recurs: boolean): void {
  if (end <= start) refuse("end", "The end must be after the start");
  if (end.getTime() - start.getTime() > MAX_DAYS * DAY_MS) {
    refuse("end", `An event lasts at most ${MAX_DAYS} days`);
  }
  const isStorable = FIRST_START <= start.getTime() && start.getTime() < LAST_START;
  if (!isStorable) refuse("start", "The start must be in the years 1970 to 2199");
  const distanceMs = Math.abs(start.getTime() - now.getTime());
  if (recurs && distanceMs > MAX_YEARS * 366 * DAY_MS) {
    refuse("start", `The start of a series must be within ${MAX_YEARS} years of now`);
  }
}

function refuse(field: string, msg: string): never {
  throw new InvalidInput([{ path: [field], msg, type: "value_error" }]);
}
