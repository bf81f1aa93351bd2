/** Recurrence rules of RFC 5545, as far as calendars of people need them. */
import { RRuleTemporal } from "rrule-temporal";
import { Temporal } from "temporal-polyfill";
import type { Span } from "../../store/planning/mod.ts";
import { toDate, zoned } from "./time_zones.ts";

/** The rule is none, or one that is not supported. */
export class RuleRefused extends Error {
  override readonly name = "RuleRefused";
}

/** The first occurrence of an event, and the rule that it recurs by. */
export interface Series extends Span {
  readonly timeZone: string;
  /** Null: it takes place once. */
  readonly rrule: string | null;
}

const DAY = "(?:MO|TU|WE|TH|FR|SA|SU)";
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

/** Limits of the library's own work. A rule of the forms above comes nowhere near them within its span. */
const LIMITS = { maxIterations: 20_000, maxCandidateEvaluations: 20_000 };

/** Returns a rule in its normal form. @throws {RuleRefused} naming the wrong part */
export function parseRule(text: string): string {
  const rule = text.trim().replace(/^RRULE:/i, "").toUpperCase();
  const seen = new Map<string, string>();
  for (const part of rule.split(";")) {
    const [name = "", value = "", ...more] = part.split("=");
    const form = Object.hasOwn(PARTS, name) ? PARTS[name]! : undefined;
    if (!form || more.length > 0) {
      throw new RuleRefused(
        `${name || "An empty part"} is not supported; the parts are ${
          Object.keys(PARTS).join(", ")
        }`,
      );
    }
    if (seen.has(name)) throw new RuleRefused(`${name} occurs twice`);
    if (!form.test(value)) {
      throw new RuleRefused(`${name} is not ${HINTS[name] ?? "as RFC 5545 has it"}`);
    }
    seen.set(name, value);
  }
  if (!seen.has("FREQ")) throw new RuleRefused("FREQ is missing: DAILY, WEEKLY, MONTHLY or YEARLY");
  return [...seen].map(([name, value]) => `${name}=${value}`).join(";");
}

/**
 * Returns the occurrences of a series that begin within a span, and whether there may be later ones.
 *
 * Each has the wall clock's time of the first, and lasts as long. One whose time does not exist on its day, as clocks are put
 * forward over it, is left out; of two such times it has the earlier one. The first occurrence always counts.
 *
 * @throws {RuleRefused} the rule contradicts itself
 */
export function expand(
  { start, end, timeZone, rrule }: Series,
  span: Span,
): { readonly spans: Span[]; readonly hasMore: boolean } {
  const durationMs = end.getTime() - start.getTime();
  const isWithin = (moment: Date) => span.start <= moment && moment < span.end;
  if (rrule === null) {
    return { spans: isWithin(start) ? [{ start, end }] : [], hasMore: span.end <= start };
  }
  try {
    const rule = new RRuleTemporal({
      rruleString: `RRULE:${rrule}`,
      dtstart: zoned(start, timeZone),
      temporal: Temporal,
      strict: true,
      includeDtstart: true,
      ...LIMITS,
    });
    const starts = rule.between(start, span.end, true).map(toDate)
      .filter((moment) => moment < span.end);
    const { count, until } = rule.options();
    return {
      spans: starts.filter(isWithin).map((moment) => ({
        start: moment,
        end: new Date(moment.getTime() + durationMs),
      })),
      hasMore: starts.length < (count ?? Infinity) && (!until || span.end <= toDate(until)),
    };
  } catch (error) {
    throw new RuleRefused((error as Error).message);
  }
}
