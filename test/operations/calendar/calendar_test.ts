import assert from "node:assert/strict";
import { PLATFORM_TENANT } from "../../../contract/domain/mod.ts";
import type { NewKey } from "../../../store/keys/mod.ts";
import { asSuperuser } from "../../_superuser.ts";
import { ensureSecondsLeftInDay } from "../../_time.ts";
import { startGateway, type TestGateway } from "../../api/_gateway.ts";

const EVENTS = "/v1/calendar/events";
const DAY_MS = 24 * 60 * 60_000;
/** A Monday some weeks ahead, so that tests pass in every month. */
const MONDAY = nextMonday(new Date(Date.now() + 30 * DAY_MS));

function nextMonday(from: Date): string {
  const days = (8 - from.getUTCDay()) % 7;
  return new Date(from.getTime() + days * DAY_MS).toISOString().slice(0, 10);
}

// deno-lint-ignore no-explicit-any -- bodies of many shapes
type Json = any;

describe("the calendar over REST", () => {
  let gateway: TestGateway;
  let key: string;
  let person: string;
  let rival: string;
  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_LIMIT_PARTNER: "100000" } });
    const issue = (fields: Partial<NewKey>) => gateway.key(fields);
    key = await issue({ tenant: "acme" });
    person = await issue({ tenant: PLATFORM_TENANT, mayApprove: true, principal: "ada" });
    rival = await issue({ tenant: "rival" });
  });
  after(() => gateway.stop());

  const call = (method: string, path: string, body?: object, by = key) =>
    gateway.call(by, method, path, body);

  const book = (fields: object, by?: string) =>
    call("POST", EVENTS, { title: "Review", duration_minutes: 30, ...fields }, by);

  it("books, lists and cancels an event", async () => {
    const { status, body } = await book({
      start: `${MONDAY}T09:00`,
      time_zone: "Europe/Vienna",
      calendar: "room-1",
      location: "Room 1",
      attendees: ["ada@example.com"],
    });
    assert.equal(status, 200);
    assert.match(body.event_id, /^EVT-[0-9a-f]{12}$/);
    assert.match(body.start, new RegExp(`^${MONDAY}T09:00:00\\+0[12]:00$`));
    const list = await call("GET", `${EVENTS}?from_date=${MONDAY}&to_date=${MONDAY}`);
    assert.equal(list.body.total, 1);
    assert.deepEqual(list.body.events, [body]);

    const cancelled = await call("DELETE", `${EVENTS}/${body.event_id}`);
    assert.equal(cancelled.status, 200);
    assert.equal(cancelled.body.sequence, 1);
    assert.ok(cancelled.body.cancelled_at);
    const again = await call("DELETE", `${EVENTS}/${body.event_id}`);
    assert.equal(again.status, 409);
    assert.match(again.body.detail, /cancelled already/);
    const empty = await call("GET", `${EVENTS}?from_date=${MONDAY}&to_date=${MONDAY}`);
    assert.equal(empty.body.total, 0);
  });

  it("gives one of 200 bookings of one time", async () => {
    const start = `${MONDAY}T14:00Z`;
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => book({ start, title: `Slot ${n}` })),
    );
    const booked = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 409);
    assert.deepEqual([booked.length, refused.length], [1, 199]);
    const { event_id, title } = booked[0]!.body;
    for (const { body } of refused) {
      assert.deepEqual(body.conflicts.map((one: Json) => one.event_id), [event_id]);
      assert.match(body.detail, new RegExp(`busy at that time by ${event_id}`));
      assert.equal(body.conflicts[0].title, title);
    }
  });

  it("keeps busy time exclusive by a constraint, whoever writes it", async () => {
    const db = asSuperuser({ url: gateway.platform.store.url, tenant: "acme" });
    const insert = (event: string) =>
      db.execute(
        `INSERT INTO calendar_occurrences (tenant_id, event_id, starts_at, ends_at, kind, calendar, busy)
         SELECT tenant_id, id, '2031-01-01T10:00Z', '2031-01-01T11:00Z', kind, calendar, true
         FROM calendar_events WHERE id = $1`,
        [event],
      );
    const one = await book({ start: `${MONDAY}T01:00Z`, calendar: "raw" });
    const two = await book({ start: `${MONDAY}T02:00Z`, calendar: "raw" });
    await insert(one.body.event_id);
    await assert.rejects(() => insert(two.body.event_id), { code: "23P01" });
  });

  it("takes the time of all occurrences of a series, or none", async () => {
    const series = { rrule: "FREQ=WEEKLY;COUNT=3", calendar: "series" };
    const third = new Date(Date.parse(`${MONDAY}T10:15Z`) + 14 * DAY_MS).toISOString();
    const single = await book({ start: third, calendar: "series" });
    const refused = await book({ ...series, start: `${MONDAY}T10:00Z` });
    assert.equal(refused.status, 409);
    assert.deepEqual(refused.body.conflicts[0].event_id, single.body.event_id);
    const booked = await book({ ...series, start: `${MONDAY}T11:00Z` });
    assert.equal(booked.status, 200);
    assert.equal(booked.body.booked_until, null);
    assert.equal((await book({ start: `${MONDAY}T11:15Z`, calendar: "series" })).status, 409);
    const { body } = await call("GET", `${EVENTS}?from_date=${MONDAY}&calendar=series`);
    assert.deepEqual(
      body.events.map(({ rrule }: Json) => rrule),
      Array(2).fill("FREQ=WEEKLY;COUNT=3").concat(null, "FREQ=WEEKLY;COUNT=3"),
    );
  });

  it("leaves time free that is another calendar's, not busy, or begins with the end", async () => {
    const start = `${MONDAY}T16:00Z`;
    assert.equal((await book({ start, calendar: "a" })).status, 200);
    assert.equal((await book({ start, calendar: "b" })).status, 200);
    assert.equal((await book({ start, calendar: "a", busy: false })).status, 200);
    assert.equal((await book({ start: `${MONDAY}T16:30Z`, calendar: "a" })).status, 200);
    assert.equal((await book({ start: `${MONDAY}T16:29Z`, calendar: "a" })).status, 409);
  });

  it("keeps tenants apart", async () => {
    const start = `${MONDAY}T18:00Z`;
    const { body } = await book({ start });
    assert.equal((await book({ start }, rival)).status, 200);
    const foreign = await call("DELETE", `${EVENTS}/${body.event_id}`, undefined, rival);
    const none = await call("DELETE", `${EVENTS}/EVT-000000000000`, undefined, rival);
    assert.deepEqual([foreign.status, none.status], [404, 404]);
    const list = await call("GET", `${EVENTS}?from_date=${MONDAY}`, undefined, rival);
    assert.equal(list.body.total, 1);
  });

  it("leaves freezes and maintenance to people of the operator", async () => {
    const admin = await gateway.key({ tier: "admin", tenant: PLATFORM_TENANT });
    const other = await gateway.key({ tenant: "acme", mayApprove: true });
    for (const kind of ["freeze", "maintenance"]) {
      const start = `${MONDAY}T00:00Z`;
      for (const by of [key, admin, other]) {
        const { status, body } = await book({ kind, start }, by);
        assert.equal(status, 403);
        assert.match(body.detail, /people of the operator/);
      }
      const { status, body } = await book({ kind, start }, person);
      assert.equal(status, 200);
      assert.equal(body.busy, false);
      const stays = await call("DELETE", `${EVENTS}/${body.event_id}`, undefined, admin);
      assert.equal(stays.status, 403);
      const ends = await call("DELETE", `${EVENTS}/${body.event_id}`, undefined, person);
      assert.equal(ends.status, 200);
    }
  });

  it("shows today in the time zone that is asked for", async () => {
    const zones = ["Pacific/Kiritimati", "Pacific/Pago_Pago"]; // 25 hours apart
    const dates = await Promise.all(zones.map(async (time_zone) => {
      const { body } = await call("GET", `/v1/calendar/today?time_zone=${time_zone}`);
      return body.date;
    }));
    assert.notEqual(dates[0], dates[1]);
    await ensureSecondsLeftInDay(60);
    const today = new Date().toISOString().slice(0, 10);
    await book({ start: `${today}T12:00Z`, calendar: "now" });
    const { body } = await call("GET", "/v1/calendar/today?calendar=now");
    assert.equal(body.total, 1);
    const wrong = await call("GET", "/v1/calendar/today?time_zone=Europe%2FWien");
    assert.equal(wrong.status, 422);
    assert.match(wrong.body.detail[0].msg, /IANA/);
  });

  it("says what is wrong with a request", async () => {
    const wrong = async (fields: object, field: string, msg: RegExp) => {
      const { status, body } = await book({ start: `${MONDAY}T20:00Z`, ...fields });
      assert.equal(status, 422, JSON.stringify(body));
      assert.deepEqual(body.detail[0].loc, ["body", field]);
      assert.match(body.detail[0].msg, msg);
    };
    await wrong({ rrule: "FREQ=SECONDLY" }, "rrule", /DAILY, WEEKLY, MONTHLY or YEARLY/);
    await wrong({ rrule: "FREQ=DAILY;COUNT=1000000000" }, "rrule", /COUNT is not 1 to 1000/);
    await wrong({ end: `${MONDAY}T19:00Z` }, "end", /either end or duration_minutes/);
    await wrong({ services: ["billing"] }, "services", /Only a maintenance/);
    await wrong({ start: "2027-03-28T02:30", time_zone: "Europe/Vienna" }, "start", /03:30/);
    const unknown = await book({ start: `${MONDAY}T20:00Z`, contact_id: "CON-000000000000" });
    assert.equal(unknown.status, 404);
    const span = await call("GET", `${EVENTS}?from_date=2026-07-02&to_date=2026-07-01`);
    assert.deepEqual(span.body.detail[0].loc, ["query", "to_date"]);
  });

  it("seals what was booked without its words, and tells the feed", async () => {
    const title = "Board meeting about Wombat";
    const { body } = await book({ start: `${MONDAY}T21:00Z`, title, location: "Wombat Hall" });
    const db = asSuperuser({ url: gateway.platform.store.url, tenant: "acme" });
    const receipts = await db.query("SELECT payload FROM seal_outbox WHERE payload LIKE $1", [
      `%${body.event_id}%`,
    ]);
    assert.equal(receipts.length, 1);
    assert.match(receipts[0]!.payload, /"category":"calendar_booked"/);
    assert.doesNotMatch(receipts[0]!.payload, /wombat/i);
    const told = await db.query("SELECT kind, subject FROM messages WHERE refs->>'event_id' = $1", [
      body.event_id,
    ]);
    assert.deepEqual(told, [{ kind: "event.booked", subject: `Appointment: ${title}` }]);
  });
});
