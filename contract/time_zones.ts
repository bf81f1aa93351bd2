/** Wall clocks of IANA time zones. */
import { Temporal } from "temporal-polyfill";

/** A time on the wall clock of a time zone that does not exist, as clocks are put forward over it. */
export class NoSuchTime extends Error {
  override readonly name = "NoSuchTime";
}

const WHOLE_SECONDS = { smallestUnit: "second", roundingMode: "floor" } as const;
const HAS_OFFSET = /(?:[zZ]|[+-]\d\d:?\d\d)$/;

/** Returns the name of a time zone as IANA spells it; undefined: there is none. */
export function findTimeZone(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined; // an offset is no time zone: it has no rules
  try {
    return Temporal.Now.zonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
}

/**
 * Parses a time: with an offset it is an instant, without one it is on the wall clock of the time zone. Of two such times,
 * as clocks are put back, it is the earlier one. Fractions of seconds are left out, as iCalendar has none.
 *
 * @throws {NoSuchTime}
 * @throws {RangeError} it is no time
 */
export function parseTime(text: string, timeZone: string): Date {
  if (!/^[\d-]+T\d/i.test(text)) throw new RangeError(`${text} has no time of day`);
  if (HAS_OFFSET.test(text)) {
    return new Date(Temporal.Instant.from(text).round(WHOLE_SECONDS).epochMilliseconds);
  }
  const wanted = Temporal.PlainDateTime.from(text).round(WHOLE_SECONDS);
  const found = wanted.toZonedDateTime(timeZone);
  if (!found.toPlainDateTime().equals(wanted)) {
    throw new NoSuchTime(
      `${text} does not exist in ${timeZone}, as clocks are put forward over it; the next time is ${found.toPlainDateTime()}`,
    );
  }
  return toDate(found);
}

/** Returns the first moment of a day and of the next, on the wall clock of a time zone. @param date as 2026-07-01 */
export function dayBounds(date: string, timeZone: string): { start: Date; end: Date } {
  const day = Temporal.PlainDate.from(date);
  return {
    start: toDate(day.toZonedDateTime(timeZone)),
    end: toDate(day.add({ days: 1 }).toZonedDateTime(timeZone)),
  };
}

/** Returns the date of a moment on the wall clock of a time zone, as 2026-07-01. */
export function dateIn(moment: Date, timeZone: string): string {
  return zoned(moment, timeZone).toPlainDate().toString();
}

/** Prints a moment on the wall clock of a time zone, with its offset. */
export function printTime(moment: Date, timeZone: string): string {
  return zoned(moment, timeZone).toString({
    smallestUnit: "second",
    timeZoneName: "never",
  });
}

/** Returns a moment on the wall clock of a time zone. */
export function zoned(moment: Date, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timeZone);
}

/** Returns the moment of a time on a wall clock. */
export function toDate(time: Temporal.ZonedDateTime): Date {
  return new Date(time.epochMilliseconds);
}
