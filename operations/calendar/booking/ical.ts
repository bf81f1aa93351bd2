/** Prints events as a calendar of iCalendar (RFC 5545), for calendar programs to subscribe to. */
import type { EventRecord } from "../../../store/calendar/mod.ts";
import { zoned } from "../../../contract/mod.ts";
import { printTimeZone } from "./vtimezone.ts";

/** Longest line in octets, without its end. */
const MAX_LINE = 75;
const UTC = new Set(["UTC", "Etc/UTC", "GMT", "Etc/GMT"]);

/** Prints a calendar. Events that recur are on the wall clock of their time zone, the others in UTC. @param now when it is read */
export function printCalendar(name: string, events: readonly EventRecord[], now: Date): string {
  const series = events.filter(isOnWallClock);
  const zones = [...new Set(series.map(({ timeZone }) => timeZone))].sort();
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//sealoop//calendar//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:PUBLISH",
    `X-WR-CALNAME:${escape(name)}`,
    "REFRESH-INTERVAL;VALUE=DURATION:PT15M",
    "X-PUBLISHED-TTL:PT15M",
    ...zones.flatMap((zone) => {
      const starts = series.filter(({ timeZone }) => timeZone === zone)
        .map(({ start }) => start.getTime());
      return printTimeZone(zone, new Date(Math.min(...starts)), now);
    }),
    ...events.flatMap(printEvent),
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join("");
}

/** The people of an invitation, by their addresses. */
export interface Invitation {
  readonly organizer: string;
  readonly attendee: string;
}

/** Prints an invitation to an event that takes place once, as a mail carries it. @see RFC 5546, section 3.2.2 */
export function printInvitation(
  event: EventRecord,
  { organizer, attendee }: Invitation,
): string {
  const [begin, ...fields] = printEvent(event);
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//sealoop//calendar//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:REQUEST",
    begin!,
    `ORGANIZER:mailto:${organizer}`,
    `ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${attendee}`,
    ...fields,
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join("");
}

function isOnWallClock({ rrule, timeZone }: EventRecord): boolean {
  return rrule !== null && !UTC.has(timeZone);
}

function printEvent(event: EventRecord): string[] {
  const { kind, rrule, timeZone, location, skipped, cancelledAt } = event;
  const time = (name: string, moment: Date) =>
    isOnWallClock(event)
      ? `${name};TZID=${timeZone}:${printLocal(moment, timeZone)}`
      : `${name}:${printUtc(moment)}`;
  return [
    "BEGIN:VEVENT",
    `UID:${escape(event.uid)}`,
    `SEQUENCE:${event.sequence}`,
    `DTSTAMP:${printUtc(event.updatedAt)}`,
    `CREATED:${printUtc(event.createdAt)}`,
    `LAST-MODIFIED:${printUtc(event.updatedAt)}`,
    time("DTSTART", event.start),
    time("DTEND", event.end),
    ...(rrule ? [`RRULE:${rrule}`] : []),
    ...skipped.map((moment) => time("EXDATE", moment)),
    `SUMMARY:${escape(event.title)}`,
    ...(location ? [`LOCATION:${escape(location)}`] : []),
    `CATEGORIES:${kind.toUpperCase()}`,
    `STATUS:${cancelledAt ? "CANCELLED" : "CONFIRMED"}`,
    `TRANSP:${event.busy && !cancelledAt ? "OPAQUE" : "TRANSPARENT"}`,
    "END:VEVENT",
  ];
}

function printUtc(moment: Date): string {
  return moment.toISOString().replace(/[-:]|\.\d+/g, "");
}

function printLocal(moment: Date, timeZone: string): string {
  const text = zoned(moment, timeZone).toPlainDateTime().toString({ smallestUnit: "second" });
  return text.replace(/[-:]/g, "");
}

/** Escapes a text. Control characters, which iCalendar can't carry, are left out. */
function escape(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[\\;,]/g, "\\$&").replaceAll("\n", "\\n")
    .replace(/\p{Cc}/gu, "");
}

/** Breaks a line that is too long, between characters. */
function fold(line: string): string {
  let folded = "";
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > MAX_LINE) {
      folded += "\r\n ";
      octets = 1;
    }
    folded += character;
    octets += size;
  }
  return folded;
}
