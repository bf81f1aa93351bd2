import assert from "node:assert/strict";
import { bookEvent, cancelBooking, extendSeries } from "../../operations/calendar/booking/mod.ts";
import { type Db, openStore, type Store } from "../../store/mod.ts";
import { findMaintenance, listOccurrences } from "../../store/calendar/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";
import { ensureSecondsLeftInDay } from "../_time.ts";

const DAY_MS = 24 * 60 * 60_000;
const WHO = { actor: "key:test", principal: "ada" };

describe("extendSeries()", () => {
  let database: TestDatabase;
  let store: Store;
  let db: Db;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.worker, "worker");
    db = store.asPlatform();
  });
  beforeEach(() => ensureSecondsLeftInDay(30)); // days are counted from today
  after(async () => {
    await store?.close();
    await database?.drop();
  });

  const daysAhead = (days: number) =>
    new Date(Math.floor(Date.now() / DAY_MS + days) * DAY_MS).toISOString();
  const book = (fields: object) =>
    db.transaction((trx) =>
      bookEvent(trx, {
        title: "Daily",
        start: daysAhead(1),
        durationMinutes: 60,
        calendar: "series",
        ...fields,
      }, WHO)
    );
  const startsOf = async (id: string) => {
    const rows = await asSuperuser(store).query(
      "SELECT starts_at FROM calendar_occurrences WHERE event_id = $1 ORDER BY 1",
      [id],
    );
    return rows.map(({ starts_at }) => starts_at.toISOString());
  };
  /** Forgets the last days of a series, as if they had not been booked yet. */
  async function forget(id: string, days: number) {
    const until = daysAhead(367 - days);
    const superuser = asSuperuser(store);
    await superuser.execute(
      "DELETE FROM calendar_occurrences WHERE event_id = $1 AND starts_at >= $2",
      [id, until],
    );
    await superuser.execute("UPDATE calendar_events SET expanded_until = $2 WHERE id = $1", [
      id,
      until,
    ]);
  }

  it("books what comes into reach, once, in several workers at once", async () => {
    const { id } = await book({ rrule: "FREQ=DAILY" });
    const all = await startsOf(id);
    assert.equal(all.length, 366);
    await forget(id, 30);
    assert.equal((await startsOf(id)).length, 336);
    await Promise.all(Array.from({ length: 5 }, () => extendSeries(db)));
    assert.deepEqual((await startsOf(id)).slice(0, 365), all.slice(0, 365));
    await asSuperuser(store).execute("DELETE FROM calendar_occurrences");
    await asSuperuser(store).execute("UPDATE calendar_events SET cancelled_at = now()");
  });

  it("leaves out what somebody else has booked, and says so", async () => {
    const { id } = await book({ rrule: "FREQ=DAILY", title: "Round" });
    await forget(id, 10);
    const taken = daysAhead(360);
    const other = await book({ start: taken, title: "First come" });
    assert.equal(await extendSeries(db), 1);
    const starts = await startsOf(id);
    assert.ok(!starts.includes(taken));
    assert.ok(starts.includes(daysAhead(359)) && starts.includes(daysAhead(361)));
    const span = { start: new Date(taken), end: new Date(Date.parse(taken) + DAY_MS) };
    const { events } = await listOccurrences(db, span, { limit: 10 });
    assert.deepEqual(events.map((event) => event.id), [other.id]);
    const [event] = await db.query("SELECT skipped, sequence FROM calendar_events WHERE id = $1", [
      id,
    ]);
    assert.deepEqual(event, { skipped: [new Date(taken)], sequence: 1 });
    const told = await db.query("SELECT subject FROM messages WHERE kind = 'event.not_booked'");
    assert.deepEqual(told, [{ subject: "Not booked: Round" }]);
    assert.equal(await extendSeries(db), 0);
  });

  it("ends with the series", async () => {
    const { id } = await book({
      rrule: "FREQ=DAILY;COUNT=370",
      busy: false,
      start: daysAhead(1),
    });
    await forget(id, 5);
    await asSuperuser(store).execute(
      "UPDATE calendar_events SET rrule = 'FREQ=DAILY;COUNT=365' WHERE id = $1",
      [id],
    );
    await extendSeries(db);
    const [event] = await db.query("SELECT expanded_until FROM calendar_events WHERE id = $1", [
      id,
    ]);
    assert.deepEqual(event, { expanded_until: null });
    assert.equal((await startsOf(id)).length, 365);
  });
});

describe("findMaintenance()", () => {
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.worker, "worker");
  });
  after(async () => {
    await store?.close();
    await database?.drop();
  });

  const book = (startMs: number, endMs: number, services: readonly string[]) =>
    store.asPlatform().transaction((trx) =>
      bookEvent(trx, {
        title: "Racks",
        kind: "maintenance",
        start: new Date(Date.now() + startMs).toISOString(),
        end: new Date(Date.now() + endMs).toISOString(),
        services,
      }, WHO)
    );
  const found = async (tenant: string, service: string) =>
    (await findMaintenance(store.asTenant(tenant), service))?.eventId;

  it("takes named services for the operator's own, and no name for everybody's", async () => {
    const named = await book(-60_000, 3_600_000, ["shop"]);
    assert.deepEqual(
      [
        await found("platform", "shop"),
        await found("platform", "mail"),
        await found("acme", "shop"),
      ],
      [named.id, undefined, undefined],
    );
    const all = await book(-60_000, 7_200_000, []);
    assert.deepEqual(
      [
        await found("platform", "shop"),
        await found("platform", "mail"),
        await found("acme", "shop"),
      ],
      [all.id, all.id, all.id],
      "the one that ends last",
    );
    await store.asPlatform().transaction((trx) => cancelBooking(trx, all.id, WHO));
    assert.equal(await found("acme", "shop"), undefined);
  });

  it("knows no window before it begins, nor after it has ended", async () => {
    await book(3_600_000, 7_200_000, ["db"]);
    const { id } = await book(-7_200_000, 3_600_000, ["db"]);
    assert.equal(await found("platform", "db"), id);
    await asSuperuser(store).query(
      "UPDATE calendar_occurrences SET ends_at = now() - interval '1 second' WHERE event_id = $1",
      [id],
    );
    assert.equal(await found("platform", "db"), undefined);
  });
});
