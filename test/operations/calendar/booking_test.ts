import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import {
  dayBounds,
  InvalidInput,
  NoSuchTime,
  parseTime,
  printTime,
} from "../../../contract/mod.ts";
import {
  type EventRequest,
  expand,
  parseRule,
  planEvent,
  RuleRefused,
} from "../../../operations/calendar/booking/mod.ts";
import { measureCpuMs } from "../../_time.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const VIENNA = "Europe/Vienna";

/** Returns the starts of an event's occurrences on the wall clock of its time zone. */
function startsOf(request: Partial<EventRequest>): string[] {
  const fields = { title: "x", durationMinutes: 60, timeZone: VIENNA, start: "2026-03-27T09:00" };
  const { event, occurrences } = planEvent({ ...fields, ...request }, NOW);
  return occurrences.map(({ start }) => printTime(start, event.timeZone));
}

describe("planEvent()", () => {
  it("keeps 09:00 in Vienna at 09:00 when clocks are put forward and back", () => {
    assert.deepEqual(startsOf({ rrule: "FREQ=DAILY;COUNT=4" }), [
      "2026-03-27T09:00:00+01:00",
      "2026-03-28T09:00:00+01:00",
      "2026-03-29T09:00:00+02:00",
      "2026-03-30T09:00:00+02:00",
    ]);
    assert.deepEqual(startsOf({ start: "2026-10-24T09:00", rrule: "FREQ=DAILY;COUNT=2" }), [
      "2026-10-24T09:00:00+02:00",
      "2026-10-25T09:00:00+01:00",
    ]);
  });

  it("leaves out an occurrence whose hour does not exist, and comes back to it the next day", () => {
    assert.deepEqual(startsOf({ start: "2026-03-28T02:30", rrule: "FREQ=DAILY;COUNT=3" }), [
      "2026-03-28T02:30:00+01:00",
      "2026-03-30T02:30:00+02:00",
      "2026-03-31T02:30:00+02:00",
    ]);
  });

  it("takes the earlier of two hours of the same name", () => {
    assert.deepEqual(startsOf({ start: "2026-10-24T02:30", rrule: "FREQ=DAILY;COUNT=2" }), [
      "2026-10-24T02:30:00+02:00",
      "2026-10-25T02:30:00+02:00",
    ]);
    assert.deepEqual(startsOf({ start: "2026-10-25T02:30" }), ["2026-10-25T02:30:00+02:00"]);
    assert.deepEqual(startsOf({ start: "2026-10-25T02:30:00+01:00" }), [
      "2026-10-25T02:30:00+01:00",
    ]);
  });

  it("follows rules as RFC 5545 has them", () => {
    const last = "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3"; // the last workday
    assert.deepEqual(startsOf({ start: "2026-03-31T17:00", rrule: last }), [
      "2026-03-31T17:00:00+02:00",
      "2026-04-30T17:00:00+02:00",
      "2026-05-29T17:00:00+02:00",
    ]);
    const until = "rrule:freq=weekly;until=20260410t070000z";
    assert.deepEqual(startsOf({ rrule: until }).length, 3);
    assert.deepEqual(startsOf({ start: "2028-02-29T09:00", rrule: "FREQ=YEARLY;COUNT=2" }), [
      "2028-02-29T09:00:00+01:00", // the next one is in 2032, past what is booked ahead
    ]);
  });

  it("books a series for a year ahead, and says until when", () => {
    const plan = (rrule: string) =>
      planEvent({ title: "x", start: "2026-03-27T09:00Z", durationMinutes: 5, rrule }, NOW);
    const daily = plan("FREQ=DAILY");
    assert.equal(daily.occurrences.length, 366);
    assert.equal(daily.event.expandedUntil?.toISOString(), "2027-03-28T09:00:00.000Z");
    assert.equal(plan("FREQ=DAILY;COUNT=366").event.expandedUntil, null);
    assert.ok(plan("FREQ=DAILY;COUNT=367").event.expandedUntil);
    assert.equal(plan("FREQ=WEEKLY;UNTIL=20260501T000000Z").event.expandedUntil, null);
  });

  const hostile = [
    "FREQ=SECONDLY",
    "FREQ=MINUTELY;COUNT=5",
    "FREQ=HOURLY",
    "FREQ=DAILY;COUNT=1000000000",
    "FREQ=DAILY;COUNT=0",
    "FREQ=DAILY;INTERVAL=0",
    "FREQ=DAILY;INTERVAL=99999999",
    "FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23",
    "FREQ=DAILY;BYSECOND=1",
    "FREQ=DAILY;COUNT=2;COUNT=3",
    "FREQ=DAILY;COUNT=2;UNTIL=20270101T000000Z",
    "FREQ=DAILY;UNTIL=20270101",
    "FREQ=DAILY;BYMONTHDAY=32",
    "FREQ=DAILY;BYMONTHDAY=" + Array(5_000).fill("1").join(","),
    "FREQ=DAILY;RSCALE=CHINESE",
    "FREQ=DAILY\nRRULE:FREQ=SECONDLY",
    "FREQ=DAILY;__proto__=1",
    "COUNT=3",
    "",
    ";;;;",
    "every day",
  ];
  for (const rrule of hostile) {
    it(`refuses ${JSON.stringify(rrule.slice(0, 50))} and names the field`, () => {
      assert.throws(() => startsOf({ rrule }), (error: Error) => {
        assert.ok(error instanceof InvalidInput);
        assert.deepEqual(error.issues.map(({ path }) => path), [["rrule"]]);
        return true;
      });
    });
  }

  const empty = [
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2,4,6,9,11",
    "FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6",
    "FREQ=YEARLY;BYYEARDAY=366;BYMONTH=3;INTERVAL=366",
  ];
  for (const rrule of empty) {
    it(`takes little time for ${rrule}, which never comes`, async () => {
      const cpuMs = await measureCpuMs(() => assert.equal(startsOf({ rrule }).length, 1));
      assert.ok(cpuMs < 1_000, `${cpuMs} ms`);
    });
  }

  it("refuses what can't take place", () => {
    const wrong = (fields: Partial<EventRequest>, field: string, about: RegExp) =>
      assert.throws(() => startsOf(fields), (error: Error) => {
        assert.ok(error instanceof InvalidInput);
        assert.deepEqual(error.issues[0]!.path, [field]);
        assert.match(error.message, about);
        return true;
      });
    wrong({ start: "2026-03-29T02:30" }, "start", /does not exist in Europe\/Vienna.*03:30/);
    wrong({ start: "tomorrow" }, "start", /Expected a time/);
    wrong({ start: "2026-03-27" }, "start", /Expected a time/);
    wrong({ start: "1969-01-01T00:00Z" }, "start", /1970 to 2199/);
    wrong({ start: "1999-01-01T00:00Z", rrule: "FREQ=DAILY" }, "start", /within 5 years of now/);
    wrong({ timeZone: "Europe/Wien" }, "time_zone", /IANA/);
    wrong({ timeZone: "+02:00" }, "time_zone", /IANA/);
    wrong({ durationMinutes: undefined }, "end", /either end or duration_minutes/);
    wrong({ end: "2026-03-27T10:00" }, "end", /either end or duration_minutes/);
    wrong({ durationMinutes: undefined, end: "2026-03-27T09:00" }, "end", /after the start/);
    wrong({ durationMinutes: 24 * 60 + 1, rrule: "FREQ=DAILY" }, "rrule", /overlap its own/);
    wrong({ services: ["billing"] }, "services", /Only a maintenance/);
  });
});

describe("a rule of a series", () => {
  it("gives the days that python-dateutil gives, of 300 random rules", async () => {
    const path = join(ROOT, "test/vectors/recurrence.json");
    const vectors: { start: string; rrule: string; starts: string[] }[] = JSON.parse(
      await readFile(path, "utf8"),
    );
    for (const { start, rrule, starts } of vectors) {
      const from = new Date(`${start}T09:00:00Z`);
      const series = { start: from, end: from, timeZone: "UTC", rrule: parseRule(rrule) };
      const last = starts.length < 8 ? "2060-01-01" : starts[7]!; // no more are in the file
      const to = new Date(`${last}T12:00:00Z`);
      const { spans } = expand(series, { start: from, end: to });
      const days = spans.map(({ start }) => start.toISOString().slice(0, 10));
      assert.deepEqual(days, starts, `${start} ${rrule}`);
    }
  });

  const firsts: [start: string, rrule: string, second?: string][] = [
    ["2027-03-01", "FREQ=YEARLY;BYDAY=1MO", "2028-01-03"],
    ["2027-03-08", "FREQ=YEARLY;BYDAY=2MO", "2028-01-10"],
    ["2027-06-29", "FREQ=YEARLY;BYDAY=-1TU", "2027-12-28"],
    ["2028-02-29", "FREQ=YEARLY;INTERVAL=5;BYDAY=1SU,-1TU", "2028-12-26"],
    ["2027-03-01", "FREQ=YEARLY;BYMONTH=3;BYDAY=1MO", "2028-03-06"],
    ["2027-03-02", "FREQ=MONTHLY;BYDAY=1MO;COUNT=2", "2027-04-05"],
    ["2027-03-02", "FREQ=WEEKLY;BYDAY=MO;COUNT=1"],
    ["2027-03-02", "FREQ=MONTHLY;BYMONTHDAY=-1", "2027-03-31"],
  ];
  for (const [start, rrule, second] of firsts) {
    it(`begins with its start, ${start}, by ${rrule}`, () => {
      const from = new Date(`${start}T09:00:00Z`);
      const series = { start: from, end: from, timeZone: "UTC", rrule: parseRule(rrule) };
      const { spans } = expand(series, { start: from, end: new Date("2029-01-01T00:00:00Z") });
      const days = spans.slice(0, 2).map(({ start }) => start.toISOString().slice(0, 10));
      assert.deepEqual(days, second === undefined ? [start] : [start, second]);
    });
  }

  for (
    const [rrule, about] of [
      ["FREQ=DAILY;UNTIL=20260327T000000Z", /UNTIL is before the start, 20260327T080000Z/],
      ["FREQ=DAILY;UNTIL=20260230T000000Z", /UNTIL is not a time in UTC/],
      ["FREQ=DAILY;UNTIL=20271301T000000Z", /UNTIL is not a time in UTC/],
      ["FREQ=WEEKLY;BYDAY=2MO", /BYDAY has numbers/],
      ["FREQ=YEARLY;BYWEEKNO=3;BYDAY=2MO", /BYDAY has no numbers/],
      ["FREQ=WEEKLY;BYMONTHDAY=3", /BYMONTHDAY/],
      ["FREQ=DAILY;BYYEARDAY=3", /BYYEARDAY/],
      ["FREQ=MONTHLY;BYWEEKNO=3", /BYWEEKNO/],
      ["FREQ=MONTHLY;BYSETPOS=1", /BYSETPOS needs another BY part/],
    ] as const
  ) {
    it(`refuses ${rrule}`, () => {
      assert.throws(() => startsOf({ rrule }), about);
    });
  }

  it("takes an UNTIL that is the start itself", () => {
    assert.equal(startsOf({ rrule: "FREQ=DAILY;UNTIL=20260327T080000Z" }).length, 1);
  });

  it("refuses a freeze or a maintenance that would never hold", () => {
    for (const kind of ["freeze", "maintenance"] as const) {
      const wrong = (fields: Partial<EventRequest>, about: RegExp) =>
        assert.throws(() => startsOf({ kind, ...fields }), about);
      const today = "2026-03-01T11:55Z"; // NOW is five minutes later
      wrong({ start: today, rrule: "FREQ=DAILY;UNTIL=20260301T000000Z" }, /UNTIL is before/);
      wrong({ rrule: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30" }, /The rule gives no day/);
      wrong({ start: "2026-02-27T09:00" }, /would be over already/);
      wrong({ start: "2026-02-20T09:00", rrule: "FREQ=DAILY;COUNT=3" }, /would be over already/);
      assert.equal(startsOf({ kind, start: today }).length, 1);
      assert.ok(startsOf({ kind, start: "2026-02-20T09:00", rrule: "FREQ=DAILY" }).length > 300);
    }
  });
});

describe("expand()", () => {
  it("gives the same occurrences in pieces as at once", () => {
    const start = new Date("2026-01-01T08:00:00Z");
    const rule = parseRule("FREQ=WEEKLY;INTERVAL=3;BYDAY=TH,SU;WKST=SU;COUNT=40");
    const series = { start, end: new Date("2026-01-01T09:00:00Z"), timeZone: VIENNA, rrule: rule };
    const at = (year: number) => new Date(Date.UTC(year, 5, 15));
    const whole = expand(series, { start, end: at(2029) }).spans;
    const pieces = [
      ...expand(series, { start, end: at(2026) }).spans,
      ...expand(series, { start: at(2026), end: at(2027) }).spans,
      ...expand(series, { start: at(2027), end: at(2029) }).spans,
    ];
    assert.equal(whole.length, 40);
    assert.deepEqual(pieces, whole);
  });

  it("refuses a rule that contradicts itself", () => {
    assert.throws(() => parseRule("FREQ=WEEKLY;FREQ=DAILY"), RuleRefused);
  });
});

describe("the wall clock of a time zone", () => {
  it("has days of 23, 24 and 25 hours", () => {
    const hours = (date: string) => {
      const { start, end } = dayBounds(date, VIENNA);
      return (end.getTime() - start.getTime()) / 3_600_000;
    };
    assert.deepEqual(["2026-03-29", "2026-07-01", "2026-10-25"].map(hours), [23, 24, 25]);
  });

  it("refuses an hour that does not exist", () => {
    assert.throws(() => parseTime("2026-03-29T02:00", VIENNA), NoSuchTime);
    assert.equal(parseTime("2026-03-29T02:00", "UTC").toISOString(), "2026-03-29T02:00:00.000Z");
  });
});
