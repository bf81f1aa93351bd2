import assert from "node:assert/strict";
import { loadConfig } from "../../config.ts";
import { openPlatform } from "../../processes/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import {
  isHolderGone,
  listen,
  openHolder,
  openStore,
  requirePooler,
  type Store,
  UnusablePooler,
} from "../../store/mod.ts";
import { startProcess } from "../processes/_process.ts";
import { testFolder } from "../_run.ts";
import { type TestDatabase, testDatabase, testTemporal } from "../_servers.ts";
import { eventually } from "../_time.ts";
import { type PgBouncer, startPgBouncer, unpackPgBouncer, type Version } from "./_pgbouncer.ts";
import { skipSuite } from "./_skip.ts";

const SETTING = "SEALOOP_DATABASE_GATEWAY_DIRECT_URL";

/** Starts a version for the tests of a suite. */
function usePooler(version: Version, mode: "session" | "transaction", size: number) {
  const used = {} as { database: TestDatabase; pooler: PgBouncer };
  before(async function () {
    const folder = await testFolder();
    const missing = await unpackPgBouncer(version, folder);
    if (missing !== undefined) return skipSuite(this, missing);
    used.database = await testDatabase();
    used.pooler = await startPgBouncer(folder, used.database, { version, mode, size });
  });
  after(async () => {
    await used.pooler?.stop();
    await used.database?.drop();
  });
  return used;
}

/** Opens what a gateway opens on the database, and the connection by which it tells of itself. */
async function openProcess({ database, pooler }: ReturnType<typeof usePooler>) {
  const { platform, close } = await openPlatform({
    config: loadConfig({
      SEALOOP_DATA: await testFolder(),
      SEALOOP_DB_POOL: "3",
      [SETTING]: database.urls.gateway,
    }),
    log: createLog("test", "silent"),
    databaseUrl: (role) => pooler.urls[role],
  }, "gateway");
  const presence = openStore(pooler.urls.gateway, "gateway", 1);
  return { platform, presence, close: () => Promise.all([close(), presence.close()]) };
}

/** Lets processes work side by side. @returns most connections of the server meanwhile, through the pooler and around it */
async function work(used: ReturnType<typeof usePooler>, count: number): Promise<number> {
  const processes = await Promise.all(Array.from({ length: count }, () => openProcess(used)));
  let most = 0;
  await Promise.all(processes.map(async ({ platform: { store }, presence }, n) => {
    const number = await openHolder(store).number();
    const heard: string[] = [];
    const channel = `test_${n}`;
    await listen(store, [channel], { onNotify: (_, text) => void heard.push(text) });
    const db = store.asTenant(`tenant-${n}`);
    await Promise.all(Array.from({ length: 10 }, (_, part) =>
      db.transaction(async (trx) => {
        const text = `${n} ${part}`;
        await trx.query({ name: `add_${n}`, text: "SELECT pg_notify($1, $2)" }, [channel, text]);
        const [row] = await trx.query("SELECT current_tenant() AS tenant");
        assert.equal(row!.tenant, db.tenant);
      })));
    const [row] = await presence.db.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()",
    );
    most = Math.max(most, row!.count);
    await eventually(() => Promise.resolve(heard.length === 10 || undefined));
    assert.equal(await isHolderGone(db, number), false);
  }));
  await Promise.all(processes.map(({ close }) => close()));
  return most;
}

describe("PgBouncer", function () {
  this.timeout(300_000);

  describe("1.18 by session", () => {
    const used = usePooler("1.18", "session", 60);

    it("serves 20 processes of 3 connections on 60", async () => {
      const most = await work(used, 20);
      assert.ok(most <= 60 + 20, `${most} connections`);
    });

    it("is good enough for locks and notifications, too", async () => {
      const store = openStore(used.pooler.urls.gateway, "gateway", 2);
      await requirePooler(store, SETTING);
      await openHolder(store).number();
      assert.equal((await listen(store, ["test"], { onNotify() {} })).live, true);
      await store.close();
    });
  });

  describe("1.18 by transaction", () => {
    const used = usePooler("1.18", "transaction", 20);

    it("is refused by a process that starts, which names it and what would work", async () => {
      const gateway = await startProcess("gateway", {
        database: used.pooler,
        temporal: await testTemporal(),
        folder: await testFolder(),
        settings: { [SETTING]: used.database.urls.gateway },
      });
      try {
        const refusal =
          /^Cannot use PgBouncer 1\.18\.0, which pools by transaction.* 1\.21 or newer/;
        await gateway.line(refusal);
      } finally {
        await gateway.kill();
      }
    });

    it("is refused by a login that its console does not tell the version, too", async () => {
      const store = openStore(used.pooler.urls.engine, "engine", 1, used.database.urls.engine);
      await assert.rejects(requirePooler(store, SETTING), UnusablePooler);
      await store.close();
    });
  });

  describe("1.24 by transaction", () => {
    const used = usePooler("1.24", "transaction", 60);

    it("serves 40 processes of 3 connections on 100, 40 of them direct", async () => {
      const most = await work(used, 40);
      assert.ok(most <= 100, `${most} connections`);
    });

    it("is refused for locks and notifications, with the setting that leads around it", async () => {
      const store: Store = openStore(used.pooler.urls.gateway, "gateway", 2);
      await assert.rejects(
        requirePooler(store, SETTING),
        /locks and .* PgBouncer 1\.24.* set SEALOOP_DATABASE_GATEWAY_DIRECT_URL to/,
      );
      await store.close();
    });
  });
});
