import assert from "node:assert/strict";
import { keepDeletingOldData } from "../../runbooks/forget.ts";
import { openUsageMeter } from "../../store/mod.ts";
import { createLog } from "../../web/mod.ts";
import { testStore } from "../_servers.ts";
import { eventually } from "../workflows/_story.ts";

describe("a worker", () => {
  it("removes counts of uses once their periods are long over, and no others", async () => {
    const { store, config, close } = await testStore();
    const stopping = new AbortController();
    const use = { subject: "now", kind: "tools", limit: 60, periodSeconds: 60 };
    await openUsageMeter(store.asPlatform()).count(use);
    await store.pool.query(
      "INSERT INTO usage VALUES ('before', 'tools', now() - interval '49 hours', 7)",
    );
    const log = createLog("test", "silent");
    const forgetting = keepDeletingOldData({ config, store, log, signal: stopping.signal });
    try {
      const subjects = async () =>
        (await store.asPlatform().query("SELECT subject FROM usage")).map((row) => row.subject);
      await eventually(async () => !(await subjects()).includes("before") || undefined);
      assert.deepEqual(await subjects(), ["now"]);
    } finally {
      stopping.abort();
      await forgetting;
      await close();
    }
  });
});
