/** Days on which a rule recurs. A day is its number since 1970-01-01. */
import type { Rule } from "./rule.ts";

const DAY_MS = 86_400_000;
/** 2200-01-01, after which nothing is expanded. */
const END = Date.UTC(2200, 0, 1) / DAY_MS;

/** Returns the number of a day. @param month from 1; like `day`, it may be beyond its end */
export function toDay(year: number, month: number, day: number): number {
  return Date.UTC(year, month - 1, day) / DAY_MS;
}

/** Yields the days of a rule from a first one on, in their order. Ends in the year 2200 at the latest. */
export function* listRuleDays(rule: Rule, first: number): Generator<number> {
  const completed = completeRule(rule, first);
  for (let n = 0;; n++) {
    const { from, to } = periodAt(rule, first, n * rule.interval);
    if (from >= END) return;
    const days: number[] = [];
    for (let day = from; day < to; day++) if (matches(day, completed)) days.push(day);
    for (const day of selectPositions(days, rule.positions)) {
      if (day >= END) return;
      if (day >= first) yield day;
    }
  }
}

/** Adds to a rule what it takes from its start: the weekday, the day of the month, the month. */
function completeRule(rule: Rule, first: number): Rule {
  const { frequency, days, monthDays, yearDays, weeks } = rule;
  if ([days, monthDays, yearDays, weeks].some(({ length }) => length > 0)) return rule;
  const { month, date, weekday } = fieldsOf(first);
  if (frequency === "DAILY") return rule;
  if (frequency === "WEEKLY") return { ...rule, days: [{ weekday }] };
  if (frequency === "MONTHLY" || rule.months.length > 0) return { ...rule, monthDays: [date] };
  return { ...rule, months: [month], monthDays: [date] };
}

/** Returns the days of the period that comes so many periods after that of the first day. */
function periodAt({ frequency, weekStart }: Rule, first: number, offset: number) {
  const { year, month, weekday } = fieldsOf(first);
  switch (frequency) {
    case "DAILY":
      return { from: first + offset, to: first + offset + 1 };
    case "WEEKLY": {
      const from = first - (weekday - weekStart + 7) % 7 + 7 * offset;
      return { from, to: from + 7 };
    }
    case "MONTHLY":
      return { from: toDay(year, month + offset, 1), to: toDay(year, month + offset + 1, 1) };
    case "YEARLY":
      return { from: toDay(year + offset, 1, 1), to: toDay(year + offset + 1, 1, 1) };
  }
}

function matches(day: number, rule: Rule): boolean {
  const { months, monthDays, yearDays, weeks, days } = rule;
  const { year, month, date, weekday } = fieldsOf(day);
  if (months.length > 0 && !months.includes(month)) return false;
  if (days.length > 0 && !days.some((one) => one.weekday === weekday)) return false;
  if (monthDays.length > 0) {
    const length = toDay(year, month + 1, 1) - toDay(year, month, 1);
    if (!includesPlace(monthDays, date, length)) return false;
  }
  if (yearDays.length > 0) {
    const [from, to] = [toDay(year, 1, 1), toDay(year + 1, 1, 1)];
    if (!includesPlace(yearDays, day - from + 1, to - from)) return false;
  }
  if (weeks.length > 0) {
    const { week, weekCount } = weekOf(day, rule.weekStart);
    if (!includesPlace(weeks, week, weekCount)) return false;
  }
  if (days.every(({ nth }) => nth === undefined)) return true;
  // Numbers count within the year only if the rule is yearly and names no months.
  const isOfYear = rule.frequency === "YEARLY" && months.length === 0;
  const from = isOfYear ? toDay(year, 1, 1) : toDay(year, month, 1);
  const to = isOfYear ? toDay(year + 1, 1, 1) : toDay(year, month + 1, 1);
  const [nth, nthLast] = [Math.floor((day - from) / 7) + 1, -Math.ceil((to - day) / 7)];
  return days.some((one) =>
    one.weekday === weekday && (one.nth === undefined || one.nth === nth || one.nth === nthLast)
  );
}

/** Returns true where a place from 1 is among some, of which negative ones count from the end. */
function includesPlace(places: readonly number[], place: number, length: number): boolean {
  return places.includes(place) || places.includes(place - length - 1);
}

/** Returns the number of a day's week, and how many weeks the year has that it belongs to. */
function weekOf(day: number, weekStart: number) {
  const { year } = fieldsOf(day);
  const first = [year - 1, year, year + 1, year + 2].map((y) => firstWeek(y, weekStart));
  const n = first.findLastIndex((start) => start <= day);
  return {
    week: Math.floor((day - first[n]!) / 7) + 1,
    weekCount: (first[n + 1]! - first[n]!) / 7,
  };
}

/** Returns the first day of the first week that has four days or more in a year. */
function firstWeek(year: number, weekStart: number): number {
  const fourth = toDay(year, 1, 4);
  return fourth - (fieldsOf(fourth).weekday - weekStart + 7) % 7;
}

function selectPositions(days: readonly number[], positions: readonly number[]): readonly number[] {
  if (positions.length === 0) return days;
  return days.filter((_, n) => includesPlace(positions, n + 1, days.length));
}

/** @returns `month` from 1, `weekday` from Monday, which is 0 */
function fieldsOf(day: number) {
  const date = new Date(day * DAY_MS);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    date: date.getUTCDate(),
    weekday: (day % 7 + 10) % 7, // 1970-01-01 was a Thursday
  };
}
