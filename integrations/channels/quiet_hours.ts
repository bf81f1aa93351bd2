import { Temporal } from "temporal-polyfill";

/** Hours of each day in which people are not told, on the wall clock of a time zone. */
export interface QuietHours {
  /** As 22:00. */
  readonly from: string;
  /** As 07:00. Before `from`: on the next day. */
  readonly to: string;
  /** IANA name. */
  readonly timeZone: string;
}

/** Returns the end of the quiet hours that a moment is in; undefined: it is in none. */
export function endOfQuiet({ from, to, timeZone }: QuietHours, moment: Date): Date | undefined {
  const now = Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timeZone);
  const [begin, end] = [Temporal.PlainTime.from(from), Temporal.PlainTime.from(to)];
  const time = now.toPlainTime();
  const isAfter = Temporal.PlainTime.compare(time, begin) >= 0;
  const isBefore = Temporal.PlainTime.compare(time, end) < 0;
  const overMidnight = Temporal.PlainTime.compare(end, begin) <= 0;
  if (!(overMidnight ? isAfter || isBefore : isAfter && isBefore)) return undefined;
  const day = isBefore ? now.toPlainDate() : now.toPlainDate().add({ days: 1 });
  return new Date(day.toZonedDateTime({ timeZone, plainTime: end }).epochMilliseconds);
}
