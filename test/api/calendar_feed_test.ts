import assert from "node:assert/strict";
import ICAL from "ical.js";
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { renewLink } from "../../store/calendar/mod.ts";
import { storeAs } from "../_servers.ts";
import { asSuperuser, takeKey } from "../_superuser.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

// deno-lint-ignore no-explicit-any -- bodies of many shapes
type Json = any;

const EVENTS = "/v1/calendar/events";
/** A year in which the clocks of Vienna and New York change on different days. */
const YEAR = new Date().getUTCFullYear() + 1;

describe("the calendar's feed", () => {
  let gateway: TestGateway;
  let key: string;
  let url: string;
  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_LIMIT_PARTNER: "100000" } });
    key = await gateway.key({ tenant: "acme" });
    url = await linkOf(key);
  });
  after(() => gateway.stop());

  async function call(method: string, path: string, by: string, body?: object): Promise<Json> {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { "x-api-key": by, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    assert.ok(response.ok, `${response.status} ${await response.clone().text()}`);
    return await response.json();
  }
  const book = (fields: object, by = key) =>
    call("POST", EVENTS, by, { title: "Review", duration_minutes: 30, busy: false, ...fields });
  async function linkOf(by: string): Promise<string> {
    const { feed_url } = await call("GET", EVENTS, by);
    return gateway.url + new URL(feed_url).pathname;
  }
  async function read(address = url): Promise<{ text: string; calendar: Json }> {
    const response = await fetch(address);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    assert.equal(response.headers.get("content-type"), "text/calendar; charset=utf-8");
    return { text, calendar: new ICAL.Component(ICAL.parse(text)) };
  }
  /** Returns an event of the feed, as a stock parser reads it with the feed's own time zones. */
  function find(calendar: Json, uid: string): Json {
    ICAL.TimezoneService.reset();
    for (const zone of calendar.getAllSubcomponents("vtimezone")) {
      ICAL.TimezoneService.register(zone);
    }
    const events: Json[] = calendar.getAllSubcomponents("vevent").map((one: Json) =>
      new ICAL.Event(one)
    );
    return events.find((event) => event.uid === uid);
  }

  it("is read by a stock parser, which finds what was booked", async () => {
    const title = "Überprüfung; Raum 2, \\ “ganz” oben\u{1F389} ".repeat(4).trim();
    const booked = await book({
      title,
      start: `${YEAR}-07-06T09:00`,
      time_zone: "Europe/Vienna",
      location: "Room 2\nfloor 3",
      attendees: ["ada@example.com"],
    });
    const { text, calendar } = await read();
    for (const line of text.split("\r\n")) assert.ok(Buffer.byteLength(line) <= 75, line);
    assert.equal(calendar.getFirstPropertyValue("version"), "2.0");
    const event = find(calendar, booked.uid);
    assert.deepEqual([event.summary, event.location, event.sequence], [
      title,
      "Room 2\nfloor 3",
      0,
    ]);
    assert.equal(event.startDate.toJSDate().getTime(), Date.parse(booked.start));
    assert.equal(event.endDate.toJSDate().getTime(), Date.parse(booked.end));
    assert.doesNotMatch(text, /ada@example/, "attendees stay out of it");
  });

  for (const zone of ["Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]) {
    it(`has the occurrences of a series in ${zone} at the same times as the platform`, async () => {
      const start = `${YEAR}-01-04T09:00`;
      const rrule = "FREQ=WEEKLY;BYDAY=MO,SU;COUNT=100";
      const { uid, event_id } = await book({ start, time_zone: zone, rrule, title: zone });
      const ours = await asSuperuser({ url: gateway.platform.store.url, tenant: "acme" }).query(
        "SELECT starts_at FROM calendar_occurrences WHERE event_id = $1 ORDER BY 1",
        [event_id],
      );
      assert.equal(ours.length, 100);
      const iterator = find((await read()).calendar, uid).iterator();
      const theirs = ours.map(() => iterator.next().toJSDate().toISOString());
      assert.deepEqual(theirs, ours.map(({ starts_at }) => starts_at.toISOString()));
    });
  }

  it("tells programs that an event is cancelled", async () => {
    const { uid, event_id } = await book({ start: `${YEAR}-07-07T09:00Z` });
    await call("DELETE", `${EVENTS}/${event_id}`, key);
    const event = find((await read()).calendar, uid);
    const status = event.component.getFirstPropertyValue("status");
    assert.deepEqual([status, event.sequence], ["CANCELLED", 1]);
  });

  it("is not sent again while nothing has changed", async () => {
    const etag = (await fetch(url)).headers.get("etag")!;
    const again = await fetch(url, { headers: { "if-none-match": etag } });
    assert.equal(again.status, 304);
    await book({ start: `${YEAR}-07-08T09:00Z` });
    assert.equal((await fetch(url, { headers: { "if-none-match": etag } })).status, 200);
  });

  it("is the tenant's of the key, and nobody's by another link", async () => {
    const rival = await gateway.key({ tenant: "rival" });
    const { uid } = await book({ start: `${YEAR}-07-09T09:00Z` }, rival);
    assert.equal(find((await read()).calendar, uid), undefined);
    assert.ok(find((await read(await linkOf(rival))).calendar, uid));
    const [own, other] = [url, await linkOf(rival)].map((one) => one.split("/").at(-1)!);
    const mixed = `${own!.slice(0, 16)}${other!.slice(16)}`;
    const wrong = [mixed, own!.replace(/.\.ics$/, "_.ics"), "x.ics", `${own!.slice(0, 16)}-.ics`];
    for (const name of wrong) {
      const response = await fetch(`${gateway.url}/calendar/${name}`);
      assert.equal(response.status, 404);
      assert.match((await response.json() as Json).detail, /gives its address as feed_url/);
    }
  });

  it("ends with the key, and when the link is renewed", async () => {
    const mine = await gateway.key({ tenant: "acme" });
    const before = await linkOf(mine);
    const keyId = before.split("/").at(-1)!.slice(0, 16);
    const operator = await storeAs(gateway.platform.store, "operator");
    await renewLink(operator.asTenant("acme"), keyId);
    assert.equal((await fetch(before)).status, 404);
    const renewed = await linkOf(mine);
    assert.notEqual(renewed, before);
    await read(renewed);
    await takeKey({ url: gateway.platform.store.url, tenant: PLATFORM_TENANT }, keyId);
    assert.equal((await fetch(renewed)).status, 404);
  });

  it("is limited, and never in the log", async () => {
    const mine = await gateway.key({ tenant: "acme" });
    const address = await linkOf(mine);
    const statuses = new Map<number, number>();
    for (let n = 0; n < 3; n++) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(address)));
      for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    assert.deepEqual([statuses.get(200), statuses.get(429)], [120, 30]);
    assert.ok(!gateway.log().includes(address.split("-").at(-1)!), "the link is as good as a key");
  });
});
