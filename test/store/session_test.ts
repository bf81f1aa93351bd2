import assert from "node:assert/strict";
import { isHolderGone, listen, openHolder, openStore, type Store } from "../../store/mod.ts";
import { scrambleSessions } from "../_scramble.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { eventually } from "../_time.ts";

describe("the session of a store", () => {
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = await testDatabase();
  });
  beforeEach(() => {
    store = openStore(database.urls.worker, "worker", 2);
  });
  afterEach(() => store.close());
  after(() => database.drop());

  /** Lists the server's connections of the worker's role that do not run this statement. */
  async function connections(): Promise<number[]> {
    const rows = await store.asPlatform().query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`,
    );
    return rows.map(({ pid }) => pid);
  }

  const notify = (channel: string, text: string) =>
    store.asPlatform().query("SELECT pg_notify($1, $2)", [channel, text]);

  it("is one connection for all that listens and for the locks of a process", async () => {
    const heard: string[] = [];
    const hear = (channel: string, text: string) => void heard.push(`${channel} ${text}`);
    const listeners = await Promise.all([
      listen(store, ["one"], { onNotify: hear }),
      listen(store, ["one", "two"], { onNotify: hear }),
      listen(store, ["three"], { onNotify: hear }),
    ]);
    const numbers = await Promise.all(
      [openHolder(store), openHolder(store)].map((one) => one.number()),
    );
    assert.equal((await connections()).length, 1);
    for (const number of numbers) {
      assert.equal(await isHolderGone(store.asPlatform(), number), false);
    }
    await notify("one", "a");
    await notify("three", "b");
    await eventually(() => Promise.resolve(heard.length === 3 || undefined));
    assert.deepEqual(heard.sort(), ["one a", "one a", "three b"]);
    await listeners[0].close();
    await notify("one", "c");
    await eventually(() => Promise.resolve(heard.length === 4 || undefined));
    assert.equal(heard[3], "one c");
  });

  it("is made again when it is lost: what listens is told, and the locks are held", async () => {
    let connects = 0;
    const heard: string[] = [];
    const listener = await listen(store, ["one"], {
      onNotify: (_, text) => void heard.push(text),
      onConnect: () => void connects++,
    });
    const holder = openHolder(store);
    const number = await holder.number();
    const [pid] = await connections();
    await database.executeAsSuperuser(`SELECT pg_terminate_backend(${pid})`);
    await eventually(() => Promise.resolve(connects === 2 && listener.live || undefined));
    assert.equal(await isHolderGone(store.asPlatform(), number), false);
    assert.equal(await holder.number(), number);
    await notify("one", "again");
    await eventually(() => Promise.resolve(heard.includes("again") || undefined));
    await store.close();
    store = openStore(database.urls.worker, "worker", 2);
    assert.equal(await isHolderGone(store.asPlatform(), number), true);
  });

  it("ends with the last that uses it", async () => {
    const listeners = await Promise.all([
      listen(store, ["one"], { onNotify: () => {} }),
      listen(store, ["two"], { onNotify: () => {} }),
    ]);
    await listeners[0].close();
    assert.equal((await connections()).length, 1);
    await listeners[1].close();
    await eventually(async () => (await connections()).length === 0 || undefined);
    const again = await listen(store, ["one"], { onNotify: () => {} });
    assert.equal(again.live, true);
  });

  it("is what a statement that leaves something behind is found by", async () => {
    const { left } = scrambleSessions(store);
    const db = store.asPlatform();
    await db.query("SELECT set_config('work_mem', '8MB', false)");
    await db.query("SELECT pg_advisory_lock(1)");
    await db.query("LISTEN one");
    await db.transaction((trx) => trx.query("SELECT set_config('work_mem', '9MB', true)"));
    await eventually(() => Promise.resolve(left.size === 3 || undefined));
    assert.deepEqual([...left].sort(), ["LISTEN one", "advisory lock", "setting work_mem"]);
    const locks = `SELECT FROM pg_locks WHERE locktype = 'advisory'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    assert.deepEqual(await db.query(locks), []);
  });
});
