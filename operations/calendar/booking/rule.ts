/** Recurrence rules of RFC 5545, as far as calendars of people need them. */

/** The rule is none, or one that is not supported. */
export class RuleRefused extends Error {
  override readonly name = "RuleRefused";
}

/** Days of the week, Monday first: the place of one is its number. */
const WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"] as const;
const DAY = `(?:${WEEKDAYS.join("|")})`;
const list = (entry: string) => new RegExp(`^${entry}(?:,${entry}){0,30}$`);
/** Parts that a rule may have, and their values. Hours, minutes and seconds are those of the start. */
const PARTS: Readonly<Record<string, RegExp>> = {
  FREQ: /^(?:DAILY|WEEKLY|MONTHLY|YEARLY)$/,
  INTERVAL: /^(?:[1-9]\d?|[12]\d\d|3[0-5]\d|36[0-6])$/,
  COUNT: /^(?:[1-9]\d{0,2}|1000)$/,
  UNTIL: /^\d{8}T\d{6}Z$/,
  BYDAY: list(`(?:[+-]?[1-9]\\d?)?${DAY}`),
  BYMONTHDAY: list("[+-]?(?:[1-9]|[12]\\d|3[01])"),
  BYMONTH: list("(?:[1-9]|1[0-2])"),
  BYYEARDAY: list("[+-]?(?:[1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])"),
  BYWEEKNO: list("[+-]?(?:[1-9]|[1-4]\\d|5[0-3])"),
  BYSETPOS: list("[+-]?(?:[1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])"),
  WKST: new RegExp(`^${DAY}$`),
};
const HINTS: Readonly<Record<string, string>> = {
  FREQ: "DAILY, WEEKLY, MONTHLY or YEARLY",
  INTERVAL: "1 to 366",
  COUNT: "1 to 1000",
  UNTIL: "a time in UTC, as 20261231T235959Z",
};

/** A frequency of a rule. */
type Frequency = "DAILY" | "WEEKLY" | "MONTHLY" | "YEARLY";

/** A weekday of a rule: each of them, or the `nth` of the month or year; a negative one counts from its end. */
interface RuleDay {
  readonly weekday: number;
  readonly nth?: number;
}

/** A parsed rule. Lists that it lacks are empty. */
export interface Rule {
  readonly frequency: Frequency;
  readonly interval: number;
  readonly count: number;
  /** The last moment at which it may recur; undefined: there is none. */
  readonly until: Date | undefined;
  readonly days: readonly RuleDay[];
  readonly monthDays: readonly number[];
  readonly months: readonly number[];
  readonly yearDays: readonly number[];
  readonly weeks: readonly number[];
  readonly positions: readonly number[];
  /** Weekday with which weeks begin. */
  readonly weekStart: number;
}

/** Returns a rule in its normal form. @throws {RuleRefused} naming the wrong part */
export function parseRule(text: string): string {
  const parts = readParts(text);
  toRule(parts);
  return [...parts].map(([name, value]) => `${name}=${value}`).join(";");
}

/** Reads a rule into its parts. @throws {RuleRefused} naming the wrong part */
export const readRule = (text: string): Rule => toRule(readParts(text));

function readParts(text: string): Map<string, string> {
  const rule = text.trim().replace(/^RRULE:/i, "").toUpperCase();
  const parts = new Map<string, string>();
  for (const part of rule.split(";")) {
    const [name = "", value = "", ...more] = part.split("=");
    const form = Object.hasOwn(PARTS, name) ? PARTS[name]! : undefined;
    if (!form || more.length > 0) {
      const known = Object.keys(PARTS).join(", ");
      throw new RuleRefused(
        `${name || "An empty part"} is not supported; the parts are ${known}`,
      );
    }
    if (parts.has(name)) throw new RuleRefused(`${name} occurs twice`);
    if (!form.test(value)) {
      throw new RuleRefused(`${name} is not ${HINTS[name] ?? "as RFC 5545 has it"}`);
    }
    parts.set(name, value);
  }
  return parts;
}

function toRule(parts: ReadonlyMap<string, string>): Rule {
  const frequency = parts.get("FREQ") as Frequency | undefined;
  if (!frequency) throw new RuleRefused("FREQ is missing: DAILY, WEEKLY, MONTHLY or YEARLY");
  const numbers = (name: string) => parts.get(name)?.split(",").map(Number) ?? [];
  const until = parts.get("UNTIL");
  const rule: Rule = {
    frequency,
    interval: Number(parts.get("INTERVAL") ?? 1),
    count: Number(parts.get("COUNT") ?? Infinity),
    until: until === undefined ? undefined : parseUntil(until),
    days: (parts.get("BYDAY")?.split(",") ?? []).map(parseDay),
    monthDays: numbers("BYMONTHDAY"),
    months: numbers("BYMONTH"),
    yearDays: numbers("BYYEARDAY"),
    weeks: numbers("BYWEEKNO"),
    positions: numbers("BYSETPOS"),
    weekStart: parseDay(parts.get("WKST") ?? "MO").weekday,
  };
  for (const [isWrong, message] of CONTRADICTIONS) {
    if (isWrong(rule)) throw new RuleRefused(message);
  }
  return rule;
}

/** Combinations that RFC 5545, section 3.3.10, forbids. */
const CONTRADICTIONS: readonly (readonly [isWrong: (rule: Rule) => boolean, message: string])[] = [
  [({ count, until }) => count !== Infinity && until !== undefined, "Give either COUNT or UNTIL"],
  [
    ({ days, frequency }) =>
      days.some(({ nth }) => nth !== undefined) && !/^(MONTHLY|YEARLY)$/.test(frequency),
    "BYDAY has numbers, as 2MO, only in MONTHLY and YEARLY rules",
  ],
  [
    ({ days, weeks }) => days.some(({ nth }) => nth !== undefined) && weeks.length > 0,
    "BYDAY has no numbers, as 2MO, beside BYWEEKNO",
  ],
  [
    ({ monthDays, frequency }) => monthDays.length > 0 && frequency === "WEEKLY",
    "BYMONTHDAY is not for WEEKLY rules",
  ],
  [
    ({ yearDays, frequency }) => yearDays.length > 0 && frequency !== "YEARLY",
    "BYYEARDAY is for YEARLY rules alone",
  ],
  [
    ({ weeks, frequency }) => weeks.length > 0 && frequency !== "YEARLY",
    "BYWEEKNO is for YEARLY rules alone",
  ],
  [
    ({ positions, days, monthDays, months, yearDays, weeks }) =>
      positions.length > 0 && [days, monthDays, months, yearDays, weeks].every((l) => !l.length),
    "BYSETPOS needs another BY part to choose from",
  ],
];

function parseDay(text: string): RuleDay {
  const weekday = WEEKDAYS.indexOf(text.slice(-2) as typeof WEEKDAYS[number]);
  return text.length === 2 ? { weekday } : { weekday, nth: Number(text.slice(0, -2)) };
}

function parseUntil(text: string): Date {
  const iso = text.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6.000Z");
  const time = new Date(iso);
  // A day that its month does not have is no time, and Date takes it for one of the next month.
  if (Number.isNaN(time.getTime()) || time.toISOString() !== iso) {
    throw new RuleRefused(`UNTIL is not ${HINTS.UNTIL}`);
  }
  return time;
}
