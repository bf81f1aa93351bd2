import assert from "node:assert/strict";
import { openStore, type Store } from "../../store/mod.ts";
import { openUsageMeter, type Use } from "../../store/calls/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";

const DAY_SECONDS = 86_400;

describe("openUsageMeter()", () => {
  let database: TestDatabase;
  let stores: Store[];
  before(async () => {
    database = await testDatabase();
    stores = [openStore(database.urls.worker, "worker"), openStore(database.urls.worker, "worker")];
  });
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await database?.drop();
  });

  const use = (subject: string, limit: number): Use => ({
    subject,
    kind: "requests",
    limit,
    periodSeconds: DAY_SECONDS,
  });

  it("allows exactly as many uses at once as the limit says, over two processes", async () => {
    const meters = stores.map((store) => openUsageMeter(store.asPlatform()));
    const counts = await Promise.all(
      Array.from({ length: 500 }, (_, n) => meters[n % 2]!.count(use("busy", 300))),
    );
    const allowed = counts.filter((count) => count.allowed);
    assert.equal(allowed.length, 300);
    const remaining = allowed.map((count) => count.remaining).sort((a, b) => a - b);
    assert.deepEqual(remaining, Array.from({ length: 300 }, (_, n) => n));
    assert.ok(counts.every(({ resetSeconds }) => resetSeconds > 0 && resetSeconds <= DAY_SECONDS));
  });

  it("counts amounts, and nothing of a use that does not fit", async () => {
    const { count } = openUsageMeter(stores[0]!.asPlatform());
    const take = (amount: number) => count({ ...use("bytes", 100), amount });
    assert.deepEqual((await Promise.all([40, 40, 40].map(take))).map((c) => c.allowed), [
      true,
      true,
      false,
    ]);
    assert.equal((await take(21)).allowed, false);
    assert.deepEqual(await take(20).then(({ allowed, remaining }) => [allowed, remaining]), [
      true,
      0,
    ]);
    assert.equal((await take(1)).allowed, false);
  });

  it("asks the database no more about a limit that is used up", async () => {
    const meter = openUsageMeter(stores[0]!.asPlatform());
    const tired = use("tired", 1);
    assert.deepEqual([await meter.count(tired).then((c) => c.allowed), meter.usedUp(tired)], [
      true,
      undefined,
    ]);
    assert.equal((await meter.count(tired)).allowed, false);
    await stores[0]!.asPlatform().execute("DELETE FROM usage WHERE subject = 'tired'");
    assert.equal((await meter.count(tired)).allowed, false);
    assert.equal(meter.usedUp(tired)?.remaining, 0);
  });

  it("counts subjects, and no refused use", async () => {
    const { count } = openUsageMeter(stores[0]!.asPlatform());
    const counts = await Promise.all(["a", "b", "a", "a"].map((subject) => count(use(subject, 2))));
    assert.deepEqual(counts.map(({ allowed }) => allowed), [true, true, true, false]);
    assert.deepEqual(counts.map(({ remaining }) => remaining), [1, 1, 0, 0]);
    const rows = await stores[0]!.asPlatform().query(
      "SELECT subject, used::int FROM usage WHERE subject IN ('a', 'b') ORDER BY subject",
    );
    assert.deepEqual(rows, [{ subject: "a", used: 2 }, { subject: "b", used: 1 }]);
  });
});
