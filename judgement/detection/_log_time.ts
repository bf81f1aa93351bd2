/** A format of times: its pattern, at the beginning of a line, and how to read its parts. */
type TimeFormat = readonly [pattern: RegExp, parse: (parts: string[], now: Date) => number];

type TimePart = string | number | undefined;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_MS = 86_400_000;
/** Maximum of characters in which a time is looked for. */
const MAX_CHARACTERS = 1_000;

const FORMATS: readonly TimeFormat[] = [
  // 2015-07-29T17:41:44.747Z, 2015-07-29 17:41:44,747, 2015/07/29 17:41:44 +0200
  [
    /^\W{0,2}(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?/,
    ([, year, month, day, time, fraction = "0", zone = ""]) => {
      const offset = zone.replace(/(\d\d)(\d\d)$/, "$1:$2");
      return Date.parse(`${year}-${month}-${day}T${time}.${fraction.slice(0, 3)}${offset}`);
    },
  ],
  // Dec 10 06:55:46
  [
    /^(?:<\d+>)?([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)/,
    ([, month, day, hour, minute, second], now) =>
      timeInYear(now, monthNumber(month!), day, hour, minute, second),
  ],
  // [Sun Dec 04 04:47:44.123456 2005]
  [
    /^\[[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d\d):(\d\d):(\d\d)(?:\.\d+)? (\d{4})\]/,
    ([, month, day, hour, minute, second, year]) =>
      localTime(year, monthNumber(month!), day, hour, minute, second),
  ],
  // 127.0.0.1 - - [10/Oct/2000:13:55:36 -0700]
  [
    /^[^[]{0,200}\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\]/,
    ([, day, month, year, time, hours, minutes]) =>
      Date.parse(
        `${year}-${String(monthNumber(month!)).padStart(2, "0")}-${day}T${time}${hours}:${minutes}`,
      ),
  ],
  // 2005-06-03-15.42.50.363779, 20171223-22:15:29:606, 20171223T221529
  [
    /^\W{0,2}(\d{4})-?(\d\d)-?(\d\d)[-_T ](\d\d)[.:]?(\d\d)[.:]?(\d\d)(?:[.,:](\d{3}))?/,
    ([, year, month, day, hour, minute, second, fraction]) =>
      localTime(year, month, day, hour, minute, second, fraction),
  ],
  // 081109 203615, 081109 20:36:15, 17/06/09 20:10:40
  [
    /^\[?(\d\d)([-/]?)(\d\d)\2(\d\d) +(\d{1,2}):?(\d\d):?(\d\d)(?:[.,](\d{3}))?/,
    ([, year, , month, day, hour, minute, second, fraction]) =>
      localTime(`20${year}`, month, day, hour, minute, second, fraction),
  ],
  // 03-17 16:13:38.811, [10.30 16:49:06], I0302 15:04:05.000000
  [
    /^[[A-Z]?(\d\d)[-./]?(\d\d) (\d\d):(\d\d):(\d\d)/,
    ([, month, day, hour, minute, second], now) =>
      timeInYear(now, month, day, hour, minute, second),
  ],
  // 1423:M 02 Mar 2026 03:04:22.958
  [
    /^(?:\S{1,20} )?(\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d)(?:[.,](\d{3}))?/,
    ([, day, month, year, hour, minute, second, fraction]) =>
      localTime(year, monthNumber(month!), day, hour, minute, second, fraction),
  ],
  // Seconds or milliseconds since 1970, among the first words
  [
    /^(?:\S{1,80} +){0,4}?\W?(1\d{9})(\d{3})?(?:\.\d+)?(?!\S*\w)/,
    ([, seconds, milliseconds = "0"]) => Number(seconds) * 1_000 + Number(milliseconds),
  ],
];
/** Texts before the time: a word with the name of a log file, a name and a colon, and fields before the one with the time. */
const PREFIXES: readonly RegExp[] = [
  /^\S*\.(?:log|out|err|txt)\S* +/,
  /^[^\s:]{1,300}:(?:\d+:)?/,
  /^(?:\{|\w+=).{0,300}?\b(?:time|timestamp|ts)"? ?[:=] ?"?/,
  /^(?:time|timestamp|ts)="?/,
];

/** Returns the time of a line, milliseconds; undefined: it has none in a known format. */
export function timeOf(line: string, now: Date): number | undefined {
  const text = line.slice(0, MAX_CHARACTERS);
  const time = timeAtStart(text, now);
  if (time !== undefined) return time;
  for (const prefix of PREFIXES) {
    const length = prefix.exec(text)?.[0].length;
    const later = length === undefined ? undefined : timeAtStart(text.slice(length), now);
    if (later !== undefined) return later;
  }
  return undefined;
}

function timeAtStart(text: string, now: Date): number | undefined {
  for (const [pattern, parse] of FORMATS) {
    const match = pattern.exec(text);
    const time = match ? parse(match, now) : Number.NaN;
    if (Number.isFinite(time)) return time;
  }
  return undefined;
}

/** Returns a time in this year or, where that is still to come, in the last. */
function timeInYear(
  now: Date,
  month: TimePart,
  day: TimePart,
  hour: TimePart,
  minute: TimePart,
  second: TimePart,
): number {
  const year = now.getFullYear();
  const time = localTime(year, month, day, hour, minute, second);
  if (!(time > now.getTime() + DAY_MS)) return time;
  return localTime(year - 1, month, day, hour, minute, second);
}

/** Returns a time by its parts; NaN: there is no such time. */
function localTime(
  year: TimePart,
  month: TimePart,
  day: TimePart,
  hour: TimePart,
  minute: TimePart,
  second: TimePart,
  millisecond: TimePart = 0,
): number {
  const at = new Date(+year!, +month! - 1, +day!, +hour!, +minute!, +second!, +millisecond);
  const isDate = at.getMonth() === +month! - 1 && +day! > 0;
  return isDate && +hour! < 24 && +minute! < 60 && +second! <= 60 ? at.getTime() : Number.NaN;
}

/** Returns the number of a month, 1 to 12; 0: there is no such month. */
function monthNumber(name: string): number {
  return MONTHS.indexOf(name) + 1;
}
