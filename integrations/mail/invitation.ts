/** An appointment to invite somebody to. */
export interface Appointment {
  readonly uid: string;
  readonly sequence: number;
  readonly title: string;
  readonly start: Date;
  readonly end: Date;
  readonly location: string;
  readonly organizer: string;
  readonly attendee: string;
}

/** Most bytes of a line, without its end. @see RFC 5545, section 3.1 */
const MAX_LINE_BYTES = 75;

/** Prints an invitation as calendar programs read it from a mail. @see RFC 5546, section 3.2.2 */
export function printInvitation(appointment: Appointment, now = new Date()): string {
  const { uid, sequence, title, start, end, location, organizer, attendee } = appointment;
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//sealoop//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:REQUEST",
    "BEGIN:VEVENT",
    `UID:${escape(uid)}`,
    `SEQUENCE:${sequence}`,
    `DTSTAMP:${printTime(now)}`,
    `DTSTART:${printTime(start)}`,
    `DTEND:${printTime(end)}`,
    `SUMMARY:${escape(title)}`,
    ...(location ? [`LOCATION:${escape(location)}`] : []),
    `ORGANIZER:mailto:${organizer}`,
    `ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${attendee}`,
    "STATUS:CONFIRMED",
    "END:VEVENT",
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join("");
}

/** In UTC, which needs no definition of a time zone. */
function printTime(moment: Date): string {
  return `${moment.toISOString().replace(/[-:]/g, "").slice(0, 15)}Z`;
}

function escape(text: string): string {
  return text.replace(/[\\;,]/g, "\\$&").replace(/\r\n?|\n/g, "\\n")
    .replace(/\p{Cc}/gu, " ");
}

/** Breaks a long line between characters, each with all of its bytes. */
function fold(line: string): string {
  const parts = [""];
  for (const character of line) {
    const isFull = Buffer.byteLength(parts.at(-1)! + character) > MAX_LINE_BYTES;
    if (isFull) parts.push(` ${character}`);
    else parts.push(parts.pop()! + character);
  }
  return parts.join("\r\n");
}
