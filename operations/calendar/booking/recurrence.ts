import { Temporal } from "temporal-polyfill";
import type { Span } from "../../../store/calendar/mod.ts";
import { listRuleDays, toDay } from "./_rule_days.ts";
import { readRule, RuleRefused } from "./rule.ts";
import { toDate, zoned } from "../../../contract/mod.ts";

/** The first occurrence of an event, and the rule that it recurs by. */
export interface Series extends Span {
  readonly timeZone: string;
  /** Null: it takes place once. */
  readonly rrule: string | null;
}

/**
 * Returns the occurrences of a series that begin within a span, and whether there are later ones.
 *
 * The first occurrence is always the start, whether or not the rule gives it, and is the first that COUNT counts. Each has the
 * wall clock's time of the first, and lasts as long. One whose time does not exist on its day, as clocks are put forward over it,
 * is left out; of two such times it has the earlier one.
 *
 * @throws {RuleRefused} the rule contradicts itself, or ends before the start
 */
export function expand(
  { start, end, timeZone, rrule }: Series,
  span: Span,
): { readonly spans: Span[]; readonly hasMore: boolean } {
  const durationMs = end.getTime() - start.getTime();
  const starts = rrule === null ? [start] : listStarts(start, timeZone, rrule);
  const spans: Span[] = [];
  for (const moment of starts) {
    if (moment >= span.end) return { spans, hasMore: true };
    if (moment < span.start) continue;
    spans.push({ start: moment, end: new Date(moment.getTime() + durationMs) });
  }
  return { spans, hasMore: false };
}

/** Returns true where a rule gives at least one occurrence by itself, the start among them. */
export function recurs({ start, timeZone, rrule }: Series): boolean {
  return rrule !== null && listMoments(start, timeZone, rrule).next().done !== true;
}

function* listStarts(start: Date, timeZone: string, rrule: string): Generator<Date> {
  const { count, until } = readRule(rrule);
  if (until && until < start) {
    throw new RuleRefused(
      `UNTIL is before the start, ${printUtc(start)}; choose a later UNTIL, or leave the rule out`,
    );
  }
  yield start;
  let counted = 1;
  for (const moment of listMoments(start, timeZone, rrule)) {
    if (counted >= count) return;
    if (moment <= start) continue;
    counted++;
    yield moment;
  }
}

/** Yields the moments that a rule gives from the start on. */
function* listMoments(start: Date, timeZone: string, rrule: string): Generator<Date> {
  const rule = readRule(rrule);
  const local = zoned(start, timeZone);
  const time = local.toPlainTime();
  for (const day of listRuleDays(rule, toDay(local.year, local.month, local.day))) {
    const date = new Temporal.PlainDate(1970, 1, 1).add({ days: day });
    const moment = date.toZonedDateTime({ timeZone, plainTime: time });
    const found = toDate(moment);
    if (rule.until && rule.until < found) return;
    if (moment.toPlainTime().equals(time) && moment.day === date.day) yield found;
  }
}

const printUtc = (moment: Date) => moment.toISOString().replace(/[-:]|\.\d+/g, "");
