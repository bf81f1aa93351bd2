import type { Temporal } from "temporal-polyfill";
import { zoned } from "../../../contract/mod.ts";

/** Years for which changes of the clock are written down. The calendar is read anew long before. */
const YEARS_AHEAD = 10;

/**
 * Prints a time zone as iCalendar describes it: each change of its clock from a moment on, for ten years ahead.
 *
 * @param from of the earliest event that uses it
 */
export function printTimeZone(name: string, from: Date, now: Date): string[] {
  const until = zoned(now, name).add({ years: YEARS_AHEAD });
  const first = zoned(from, name).subtract({ days: 1 });
  const lines = printChange(first, first.offsetNanoseconds);
  let last = first;
  for (
    let next = first.getTimeZoneTransition("next");
    next && next.epochNanoseconds < until.epochNanoseconds;
    next = next.getTimeZoneTransition("next")
  ) {
    lines.push(...printChange(next, last.offsetNanoseconds));
    last = next;
  }
  return ["BEGIN:VTIMEZONE", `TZID:${name}`, ...lines, "END:VTIMEZONE"];
}

/** Prints one change. Its time is on the wall clock as it went before. @param before offset until then */
function printChange(at: Temporal.ZonedDateTime, before: number): string[] {
  const word = at.offsetNanoseconds > before ? "DAYLIGHT" : "STANDARD";
  const start = at.withTimeZone(printOffset(before, ":")).toPlainDateTime();
  return [
    `BEGIN:${word}`,
    `DTSTART:${start.toString({ smallestUnit: "second" }).replace(/[-:]/g, "")}`,
    `TZOFFSETFROM:${printOffset(before, "")}`,
    `TZOFFSETTO:${printOffset(at.offsetNanoseconds, "")}`,
    `END:${word}`,
  ];
}

function printOffset(nanoseconds: number, separator: string): string {
  const minutes = Math.round(Math.abs(nanoseconds) / 60e9);
  const two = (number: number) => String(number).padStart(2, "0");
  const sign = nanoseconds < 0 ? "-" : "+";
  return `${sign}${two(Math.floor(minutes / 60))}${separator}${two(minutes % 60)}`;
}
