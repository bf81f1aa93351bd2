/** How bad a line says it is. */
export type Level = "error" | "warning" | "info";

const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

/** How lines tell their time: the pattern stands at the beginning, or within the first brackets. */
const TIMES: readonly [RegExp, (m: RegExpExecArray, now: Date) => number][] = [
  // 2015-07-29T17:41:44.747Z, 2015-07-29 17:41:44,747, 2015/07/29 17:41:44 +0200
  [
    /^\W{0,2}(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?/,
    ([, y, mo, d, time, ms, zone]) =>
      Date.parse(
        `${y}-${mo}-${d}T${time}.${(ms ?? "0").slice(0, 3)}${
          zone?.replace(/(\d\d)(\d\d)$/, "$1:$2") ?? ""
        }`,
      ),
  ],
  // Dec 10 06:55:46, of this year or the last
  [
    /^(?:<\d+>)?([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)/,
    ([, month, day, h, m, s], now) => {
      const at = (year: number) =>
        new Date(year, monthOf(month!), Number(day), Number(h), Number(m), Number(s)).getTime();
      const year = now.getFullYear();
      return at(year) > now.getTime() + 86_400_000 ? at(year - 1) : at(year);
    },
  ],
  // [Sun Dec 04 04:47:44.123456 2005]
  [
    /^\[[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d\d):(\d\d):(\d\d)(?:\.\d+)? (\d{4})\]/,
    ([, month, day, h, m, s, year]) =>
      new Date(Number(year), monthOf(month!), Number(day), Number(h), Number(m), Number(s))
        .getTime(),
  ],
  // 127.0.0.1 - - [10/Oct/2000:13:55:36 -0700]
  [
    /^[^[]{0,200}\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\]/,
    ([, day, month, year, time, zh, zm]) =>
      Date.parse(
        `${year}-${String(monthOf(month!) + 1).padStart(2, "0")}-${day}T${time}${zh}:${zm}`,
      ),
  ],
];

const monthOf = (name: string) => MONTHS.indexOf(name) / 3;

/** When a line says that it was written, milliseconds; undefined: it says nothing that we understand. */
export function timeOf(line: string, now: Date): number | undefined {
  for (const [pattern, toTime] of TIMES) {
    const match = pattern.exec(line);
    const time = match ? toTime(match, now) : Number.NaN;
    if (Number.isFinite(time)) return time;
  }
  return undefined;
}

/** A level that stands where levels stand: near the beginning, in capitals, brackets or as a field. */
const NAMED_LEVEL =
  /\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|SEVERE|FATAL|CRIT(?:ICAL)?|ALERT|EMERG(?:ENCY)?|PANIC)\b|\[(?:\w+:)?(trace\d?|debug|info|notice|warn|error|crit|alert|emerg)\]|"?\blevel"?\s*[=:]\s*"?([a-zA-Z]+|\d+)/;
const NAMED_WITHIN = 160;
const BY_NAME: readonly [RegExp, Level][] = [
  [/^(err(or)?|severe|fatal|crit(ical)?|alert|emerg(ency)?|panic|50|60)$/i, "error"],
  [/^(warn(ing)?|40)$/i, "warning"],
];
/** What a line without a level says when something is wrong. */
const SAYS_ERROR =
  /\b(error|fatal|panic|critical|exception|traceback|segfault|core dumped|out of memory|unhandled)\b/i;
const SAYS_WARNING =
  /\b(warn(ing)?|failed|failure|refused|denied|timed? ?out|deprecated|unreachable|invalid)\b/i;
const DENIES = /\b(no|0|without|zero) (error|warning|failure|exception)/i;
/** An answer of a web server in the common log format. */
const ANSWERED = /" ([1-5])\d\d (?:\d+|-)/;

/** How bad a line says it is: by its level where it has one, else by its words. */
export function levelOf(line: string): Level {
  const answered = ANSWERED.exec(line)?.[1];
  if (answered) return answered === "5" ? "error" : "info";
  const named = NAMED_LEVEL.exec(line.slice(0, NAMED_WITHIN));
  const name = named?.[1] ?? named?.[2] ?? named?.[3];
  if (name) return BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? "info";
  if (DENIES.test(line)) return "info";
  return SAYS_ERROR.test(line) ? "error" : SAYS_WARNING.test(line) ? "warning" : "info";
}

const CUT: readonly RegExp[] = [
  /^\W{0,2}\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?\s?(?:Z|[+-]\d\d:?\d\d)?\]?\s*/,
  /^(?:<\d+>)?[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d \S+ /, // with the host
  /^\[[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d(?:\.\d+)? \d{4}\]\s*/,
];
const VALUES: readonly RegExp[] = [
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi,
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g,
  /\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}\b/gi,
  /\b0x[0-9a-f]+\b/gi,
  /\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi,
  /"[^"]{0,300}"/g,
  /\d+(?:[.,]\d+)*/g,
];
const MOST_WORDS = 40;

/** The words of a line, without its time and with `<*>` for what is a value by its looks. */
export function wordsOf(line: string): string[] {
  let text = line;
  for (const cut of CUT) text = text.replace(cut, "");
  for (const value of VALUES) text = text.replace(value, "<*>");
  return text.split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
}
