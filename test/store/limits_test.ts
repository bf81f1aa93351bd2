import assert from "node:assert/strict";
import { openStore, openUsageMeter, type Store, type Use } from "../../store/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";

const DAY_SECONDS = 86_400;

describe("openUsageMeter()", () => {
  let database: TestDatabase;
  let stores: Store[];
  before(async () => {
    database = await testDatabase();
    stores = [openStore(database.urls.app, "app"), openStore(database.urls.app, "app")];
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
