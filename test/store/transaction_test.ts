import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { openStore } from "../../store/mod.ts";
import { testDatabase } from "../_servers.ts";

describe("a transaction", () => {
  it("fails, and the process lives, where its connection is lost between two statements", async () => {
    const database = await testDatabase();
    const store = openStore(database.urls.worker, "worker", 2);
    try {
      const lost = store.asPlatform().transaction(async (trx) => {
        const row = await trx.first<{ pid: number }>("SELECT pg_backend_pid() AS pid");
        await database.executeAsSuperuser(`SELECT pg_terminate_backend(${row!.pid})`);
        await sleep(200);
        await trx.query("SELECT 1");
      });
      await assert.rejects(lost);
      assert.deepEqual(await store.asPlatform().query("SELECT 1 AS one"), [{ one: 1 }]);
    } finally {
      await store.close();
      await database.drop();
    }
  });
});
