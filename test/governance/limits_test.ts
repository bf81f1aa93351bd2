import assert from "node:assert/strict";
import pg from "pg";
import { z } from "zod";
import { loadConfig } from "../../config.ts";
import { defineOperation, Problem } from "../../contract/mod.ts";
import { createEntrance, createPlatformInvoke, type Platform } from "../../operations/mod.ts";
import { type OpenPlatform, openPlatform } from "../../processes/_platform.ts";
import { issueKey } from "../../store/mod.ts";
import { createLog } from "../../web/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { withinOneMinute } from "../_time.ts";
import { allowTools } from "../_governance.ts";

const LIMIT = 60;

describe("limits of an agent's key", () => {
  let database: TestDatabase;
  let servers: OpenPlatform[];
  before(async () => {
    database = await testDatabase();
    const parts = {
      config: loadConfig({ SEALOOP_LIMIT_TOOLS: String(LIMIT) }),
      log: createLog("test", "silent"),
      databaseUrl: () => database.urls.app,
    };
    servers = await Promise.all([openPlatform(parts), openPlatform(parts)]);
    await allowTools(servers[0]!.platform.store, ["simulate", "act"]);
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await database.drop();
  });

  async function asSuperuser(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: database.superuserUrl });
    await client.connect();
    await client.query(statement);
    await client.end();
  }
  const newKey = async () =>
    (await issueKey(servers[0]!.platform.store.knex, {
      ...{ tenant: "test", tier: "partner", scope: "full", principal: "agent" },
      ...{ mayApprove: false, expiresAt: null },
    })).key;
  it("let exactly as many of 1,000 calls at once pass, over two servers", async () => {
    const entrances = servers.map(({ platform }) => createEntrance(platform));
    const caller = await entrances[0]!.authenticate(await newKey(), "127.0.0.1");
    await withinOneMinute(20);
    const results = await Promise.allSettled(
      Array.from({ length: 1_000 }, (_, n) => entrances[n % 2]!.admit(caller)),
    );
    const refused = results.filter((result) => result.status === "rejected");
    assert.equal(results.length - refused.length, LIMIT);
    for (const { reason } of refused) {
      assert.ok(reason instanceof Problem);
      assert.match(reason.message, /Rate limit exceeded \(60\/minute\); wait \d+ seconds/);
    }
  });

  it("hold simulations of attacks to ten a minute besides", async () => {
    let runs = 0;
    const simulate = defineOperation<Platform>()({
      ...{
        name: "test.simulate",
        summary: "Simulate",
        group: "test",
        effect: "run",
        access: "key",
      },
      ...{ perMinute: "simulate", sealsItself: true, tool: { simulate: ["full"] } },
      ...{ input: z.object({}), output: z.object({}), example: { input: {}, output: {} } },
      run: () => {
        runs++;
        return Promise.resolve({});
      },
    });
    const invokes = servers.map(({ platform }) => createPlatformInvoke(platform));
    const credential = await newKey();
    await withinOneMinute(20);
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) =>
        invokes[n % 2]!(simulate, {
          ...{ door: "mcp", as: "simulate", requestId: String(n), credential, input: {} },
          ...{ address: "127.0.0.1", signal: new AbortController().signal },
        })),
    );
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 10);
    assert.equal(runs, 10);
    const refused = results.find((result) => result.status === "rejected");
    assert.match(String(refused?.reason), /10\/minute of simulate\); wait \d+ seconds/);
  });

  it("refuse what changes something, before it runs, while nothing can be put on record", async () => {
    const [{ platform }] = servers as [OpenPlatform];
    let runs = 0;
    const act = defineOperation<Platform>()({
      ...{ name: "test.act", summary: "Act", group: "test", effect: "write", access: "key" },
      ...{ tool: { act: ["full"] }, input: z.object({}), output: z.object({}) },
      ...{ example: { input: {}, output: {} } },
      run: () => {
        runs++;
        return Promise.resolve({});
      },
    });
    const invoke = createPlatformInvoke(platform);
    const call = {
      ...{ door: "mcp" as const, as: "act", requestId: "1", credential: await newKey(), input: {} },
      ...{ address: "127.0.0.1", signal: new AbortController().signal },
    } as const;
    await asSuperuser("REVOKE INSERT ON seal_outbox FROM sealoop_app");
    try {
      await assert.rejects(invoke(act, call), /outbox can't be written/);
    } finally {
      await asSuperuser("GRANT INSERT ON seal_outbox TO sealoop_app");
    }
    assert.equal(runs, 0);
    const decided = await platform.store.pool.query(
      "SELECT FROM governance_decisions WHERE tool = 'act'",
    );
    assert.equal(decided.rowCount, 0, "no decision without its receipt");
    await invoke(act, call);
    assert.equal(runs, 1);
  });
});
