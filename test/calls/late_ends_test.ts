import assert from "node:assert/strict";
import pg from "pg";
import { z } from "zod";
import { createInvoke, type Platform } from "../../calls/mod.ts";
import { loadConfig } from "../../config.ts";
import { defineOperation, Problem } from "../../contract/mod.ts";
import { type OpenPlatform, openPlatform } from "../../processes/mod.ts";
import { listDecisions } from "../../store/calls/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { allowTools } from "../_governance.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { eventually } from "../_time.ts";
import { giveKey } from "../_superuser.ts";

describe("a governed call whose end can't be written down at that moment", () => {
  let database: TestDatabase;
  let open: OpenPlatform;
  before(async () => {
    database = await testDatabase();
    open = await openPlatform({
      config: loadConfig({}),
      log: createLog("test", "silent"),
      databaseUrl: (role) => database.urls[role],
    }, "tools");
    await allowTools(open.platform.store, ["act"]);
  });
  after(async () => {
    await open?.close();
    await database?.drop();
  });

  const asSuperuser = async (statement: string) => {
    const client = new pg.Client({ connectionString: database.superuserUrl });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  const act = (fails: boolean) =>
    defineOperation<Platform>()({
      name: "test.act",
      summary: "Test",
      group: "test",
      effect: "write",
      access: "key",
      tool: { act: ["full"] },
      input: z.object({}),
      output: z.object({}),
      governance: { rule: "key-decides" },
      example: { input: {}, output: {} },
      run: async () => {
        await asSuperuser("ALTER TABLE seal_requests ADD CONSTRAINT none CHECK (false) NOT VALID");
        if (fails) throw new Problem("Conflict", "It is mounted");
        return {};
      },
    });

  for (const [fails, outcome] of [[false, "success"], [true, "refused"]] as const) {
    it(`gives that end, and is sealed as ${outcome} once it can be`, async () => {
      const db = open.platform.store.asPlatform();
      const { key: credential } = await giveKey(open.platform.store, {
        tier: "partner",
        scope: "full",
        principal: "agent",
        mayApprove: false,
        expiresAt: null,
      });
      const call = createInvoke(open.platform)(act(fails), {
        door: "mcp",
        as: "act",
        requestId: "1",
        credential,
        address: "127.0.0.1",
        input: {},
        signal: new AbortController().signal,
      });
      const ended = await call.catch((error: Problem) => error);
      if (fails) assert.equal((ended as Problem).message, "It is mounted");
      const [decision] = await listDecisions(db, { limit: 1 });
      assert.equal(ended.receiptId, decision!.callReceiptId);
      const queued = () =>
        db.first("SELECT payload FROM seal_outbox WHERE id = $1", [decision!.callReceiptId]);
      assert.equal(await queued(), undefined);
      await asSuperuser("ALTER TABLE seal_requests DROP CONSTRAINT none");
      const { payload } = await eventually(queued);
      assert.equal(JSON.parse(payload).outcome, outcome);
    });
  }
});
