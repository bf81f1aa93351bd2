/** A format of times: its pattern, at the beginning of a line or in its first brackets, and how to read it. */
type TimeFormat = readonly [pattern: RegExp, parse: (match: RegExpExecArray, now: Date) => number];

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_MS = 86_400_000;

const FORMATS: readonly TimeFormat[] = [
  // 2015-07-29T17:41:44.747Z, 2015-07-29 17:41:44,747, 2015/07/29 17:41:44 +0200
  [
    /^\W{0,2}(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?/,
    ([, year, month, day, time, fraction = "0", zone = ""]) => {
      const offset = zone.replace(/(\d\d)(\d\d)$/, "$1:$2");
      return Date.parse(`${year}-${month}-${day}T${time}.${fraction.slice(0, 3)}${offset}`);
    },
  ],
  // Dec 10 06:55:46: the year is this one, or the last one
  [
    /^(?:<\d+>)?([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)/,
    ([, month, day, hour, minute, second], now) => {
      const inYear = (year: number) => localTime(year, month!, day!, [hour!, minute!, second!]);
      const year = now.getFullYear();
      return inYear(year) > now.getTime() + DAY_MS ? inYear(year - 1) : inYear(year);
    },
  ],
  // [Sun Dec 04 04:47:44.123456 2005]
  [
    /^\[[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d\d):(\d\d):(\d\d)(?:\.\d+)? (\d{4})\]/,
    ([, month, day, hour, minute, second, year]) =>
      localTime(Number(year), month!, day!, [hour!, minute!, second!]),
  ],
  // 127.0.0.1 - - [10/Oct/2000:13:55:36 -0700]
  [
    /^[^[]{0,200}\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\]/,
    ([, day, name, year, time, hours, minutes]) => {
      const month = String(MONTHS.indexOf(name!) + 1).padStart(2, "0");
      return Date.parse(`${year}-${month}-${day}T${time}${hours}:${minutes}`);
    },
  ],
];

/** Returns the time of a line, milliseconds; undefined: it has none in a known format. */
export function timeOf(line: string, now: Date): number | undefined {
  for (const [pattern, parse] of FORMATS) {
    const match = pattern.exec(line);
    const time = match ? parse(match, now) : Number.NaN;
    if (Number.isFinite(time)) return time;
  }
  return undefined;
}

function localTime(
  year: number,
  month: string,
  day: string,
  [hour, minute, second]: readonly [string, string, string],
): number {
  if (!MONTHS.includes(month)) return Number.NaN;
  return new Date(
    year,
    MONTHS.indexOf(month),
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  ).getTime();
}
