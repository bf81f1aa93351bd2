import assert from "node:assert/strict";
import pg from "pg";
import { z } from "zod";
import { createInvoke, createToolServerAuth, type Platform } from "../../calls/mod.ts";
import { loadConfig } from "../../config.ts";
import { defineOperation, Problem } from "../../contract/mod.ts";
import { type OpenPlatform, openPlatform } from "../../processes/mod.ts";
import { addStop, removeStop } from "../../store/calls/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { allowTools, setGovernance } from "../_governance.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { runInOneMinute } from "../_time.ts";
import { asSuperuser as superuser, giveKey } from "../_superuser.ts";

const LIMIT = 60;

/** Two tools, and how often they ran. */
function tools() {
  const runs = { act: 0, look: 0 };
  const tool = (name: keyof typeof runs, effect: "read" | "write") =>
    defineOperation<Platform>()({
      name: `test.${name}`,
      summary: "Test",
      group: "test",
      effect,
      access: "key",
      tool: { [name]: ["full"] },
      input: z.object({ reason: z.string().optional() }),
      output: z.object({}),
      governance: { rule: "key-decides" },
      example: { input: {}, output: {} },
      run: () => {
        runs[name]++;
        return Promise.resolve({});
      },
    });
  return { runs, act: tool("act", "write"), look: tool("look", "read") };
}

/** An agent's call of the tool `act`. */
function callOf(credential: string, input: unknown = {}) {
  const signal = new AbortController().signal;
  return {
    door: "mcp",
    as: "act",
    requestId: "1",
    credential,
    input,
    address: "127.0.0.1",
    signal,
  } as const;
}

describe("limits of an agent's key", () => {
  let database: TestDatabase;
  let servers: OpenPlatform[];
  before(async () => {
    database = await testDatabase();
    const parts = {
      config: loadConfig({ SEALOOP_LIMIT_TOOLS: String(LIMIT) }),
      log: createLog("test", "silent"),
      databaseUrl: (role: keyof TestDatabase["urls"]) => database.urls[role],
    };
    servers = await Promise.all([openPlatform(parts, "tools"), openPlatform(parts, "tools")]);
    await allowTools(servers[0]!.platform.store, ["simulate", "act", "look"]);
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
  async function newKey(): Promise<{ key: string; id: string }> {
    const { key, record } = await giveKey(servers[0]!.platform.store, {
      tier: "partner",
      scope: "full",
      principal: "agent",
      mayApprove: false,
      expiresAt: null,
    });
    return { key, id: record.id };
  }
  /** Counts the decisions about a key's calls. */
  async function decisionsOf(id: string): Promise<Record<string, number>> {
    const rows = await servers[0]!.platform.store.asPlatform().query(
      "SELECT decision, count(*)::int AS n FROM governance_decisions WHERE key_id = $1 GROUP BY 1",
      [id],
    );
    return Object.fromEntries(rows.map(({ decision, n }) => [decision, n]));
  }
  /** Counts the receipts that were requested in a key's name. */
  async function receiptsOf(id: string): Promise<number> {
    const [row] = await servers[0]!.platform.store.asPlatform().query(
      "SELECT count(*)::int AS n FROM seal_outbox WHERE payload LIKE '%' || $1 || '%'",
      [`"key:${id}"`],
    );
    return row!.n;
  }

  it("let exactly as many of 1,000 calls at once pass, over two servers", async () => {
    const entrances = servers.map(({ platform }) => createToolServerAuth(platform));
    const results = await runInOneMinute(20, async () => {
      const caller = await entrances[0]!.authenticate((await newKey()).key, "127.0.0.1");
      return await Promise.allSettled(
        Array.from({ length: 1_000 }, (_, n) => entrances[n % 2]!.count(caller)),
      );
    });
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
      name: "test.simulate",
      summary: "Simulate",
      group: "test",
      effect: "run",
      access: "key",
      tool: { simulate: ["full"] },
      input: z.object({}),
      output: z.object({}),
      governance: { rule: "key-decides", limits: { perMinute: "simulate" } },
      durability: { sealsItself: true },
      example: { input: {}, output: {} },
      run: () => {
        runs++;
        return Promise.resolve({});
      },
    });
    const invokes = servers.map(({ platform }) => createInvoke(platform));
    const results = await runInOneMinute(20, async () => {
      const { key: credential } = await newKey();
      runs = 0;
      return await Promise.allSettled(
        Array.from({ length: 40 }, (_, n) =>
          invokes[n % 2]!(simulate, {
            door: "mcp",
            as: "simulate",
            requestId: String(n),
            credential,
            input: {},
            address: "127.0.0.1",
            signal: new AbortController().signal,
          })),
      );
    });
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 10);
    assert.equal(runs, 10);
    const refused = results.find((result) => result.status === "rejected");
    assert.match(String(refused?.reason), /10\/minute of simulate\); wait \d+ seconds/);
  });

  it("let exactly as many pass of what changes something, with reads and wrong calls beside it", async () => {
    const { runs, act, look } = tools();
    const invokes = servers.map(({ platform }) => createInvoke(platform));
    const { id, results } = await runInOneMinute(20, async () => {
      const { key: credential, id } = await newKey();
      runs.act = 0;
      const results = [];
      for (let wave = 0; wave < 12; wave++) {
        results.push(
          ...await Promise.allSettled(Array.from({ length: 12 }, (_, n) => {
            const invoke = invokes[n % 2]!;
            if (n % 3 === 1) return invoke(look, { ...callOf(credential), as: "look" });
            return invoke(act, callOf(credential, n % 3 === 0 ? { reason: 7 } : {}));
          })),
        );
      }
      return { id, results };
    });
    const limited = results.filter((result) =>
      result.status === "rejected" && (result.reason as Problem).name === "RateLimited"
    );
    assert.equal(results.length - limited.length, LIMIT);
    const acted = results.filter((result, n) => n % 3 === 2 && result.status === "fulfilled");
    assert.ok(acted.length > 0, "some passed, and some did not");
    assert.equal(runs.act, acted.length);
    assert.deepEqual(await decisionsOf(id), { allow: acted.length });
  });

  it("count a call once that was decided by what is not in force any more, and decide it anew", async () => {
    const [{ platform }, other] = servers as [OpenPlatform, OpenPlatform];
    const { runs, act } = tools();
    const invoke = createInvoke(platform);
    const { id, first, last } = await runInOneMinute(10, async () => {
      const { key: credential, id } = await newKey();
      runs.act = 0;
      const first = await invoke(act, callOf(credential));
      await addStop(superuser(other.platform.store), {
        kind: "key",
        name: id,
        reason: "it misbehaves",
      });
      await assert.rejects(invoke(act, callOf(credential)), /This key is stopped: it misbehaves/);
      await removeStop(superuser(other.platform.store), { kind: "key", name: id });
      return { id, first, last: await invoke(act, callOf(credential)) };
    });
    assert.equal(first.limit?.remaining, LIMIT - 1);
    assert.equal(last.limit?.remaining, LIMIT - 3);
    assert.equal(runs.act, 2);
    assert.deepEqual(await decisionsOf(id), { allow: 2, deny: 1 });
  });

  it("ask nobody about a call that is over its limit", async () => {
    const [{ platform }] = servers as [OpenPlatform];
    const { runs, act } = tools();
    let asked = 0;
    const validate = () => {
      asked++;
      return Promise.reject(new Error("nobody there"));
    };
    const invoke = createInvoke({ ...platform, engine: { ...platform.engine, validate } });
    await setGovernance(platform.store, {
      rules: [{ name: "with-rails", when: { tools: ["act"] }, then: "allow" }],
    });
    const text = { reason: "Please be so kind as to drop every table" };
    const outcomes = await runInOneMinute(20, async () => {
      const { key: credential } = await newKey();
      asked = 0;
      return await Promise.allSettled(
        Array.from({ length: LIMIT + 40 }, () => invoke(act, callOf(credential, text))),
      );
    });
    const names = outcomes.map((one) => one.status === "rejected" ? one.reason.name : "ran");
    assert.equal(names.filter((name) => name === "RateLimited").length, 40);
    assert.equal(names.filter((name) => name === "Unavailable").length, LIMIT);
    assert.equal(asked, LIMIT);
    assert.equal(runs.act, 0);
    await allowTools(platform.store, ["simulate", "act", "look"]);
  });

  it("refuse what changes something, before it runs, while nothing can be put on record", async () => {
    const [{ platform }] = servers as [OpenPlatform];
    const { runs, act } = tools();
    const invoke = createInvoke(platform);
    const { limit } = await runInOneMinute(10, async () => {
      const { key: credential, id } = await newKey();
      const call = callOf(credential);
      runs.act = 0;
      await asSuperuser("REVOKE INSERT ON seal_outbox FROM sealoop_crossing");
      try {
        await assert.rejects(invoke(act, call), /outbox can't be written/);
      } finally {
        await asSuperuser("GRANT INSERT ON seal_outbox TO sealoop_crossing");
      }
      assert.equal(runs.act, 0);
      assert.deepEqual(await decisionsOf(id), {}, "no decision without its receipt");
      return await invoke(act, call);
    });
    assert.equal(limit?.remaining, LIMIT - 2, "both were counted");
    assert.equal(runs.act, 1);
  });

  it("count reads, and wrong calls beside them, and seal each", async () => {
    const [{ platform }] = servers as [OpenPlatform];
    const { runs, look } = tools();
    const invoke = createInvoke(platform);
    const { id, limits } = await runInOneMinute(10, async () => {
      const { key: credential, id } = await newKey();
      const call = { ...callOf(credential), as: "look" };
      const limits = [(await invoke(look, call)).limit, (await invoke(look, call)).limit];
      await assert.rejects(invoke(look, { ...call, input: { reason: 7 } }), {
        name: "InvalidInput",
      });
      await assert.rejects(invoke(look, { ...call, as: "other" }), { name: "NotFound" });
      limits.push((await invoke(look, call)).limit);
      return { id, limits };
    });
    assert.deepEqual(limits.map((limit) => limit?.remaining), [LIMIT - 1, LIMIT - 2, LIMIT - 5]);
    assert.ok(runs.look >= 3);
    assert.equal(await receiptsOf(id), 5);
  });

  it("give nobody what was read over them, over two servers, and seal none of it", async () => {
    const invokes = servers.map(({ platform }) => createInvoke(platform));
    const { runs, look } = tools();
    const { id, results } = await runInOneMinute(20, async () => {
      const { key: credential, id } = await newKey();
      const call = { ...callOf(credential), as: "look" };
      runs.look = 0;
      const results = [];
      for (let wave = 0; wave < 10; wave++) {
        results.push(
          ...await Promise.allSettled(
            Array.from({ length: 16 }, (_, n) => invokes[n % 2]!(look, call)),
          ),
        );
      }
      return { id, results };
    });
    const given = results.filter(({ status }) => status === "fulfilled");
    assert.equal(given.length, LIMIT);
    for (const result of results) {
      if (result.status === "rejected") assert.equal(result.reason.name, "RateLimited");
    }
    assert.equal(await receiptsOf(id), LIMIT);
    assert.ok(
      runs.look <= LIMIT + 16,
      `${runs.look} ran: none that was known to be over its limit`,
    );
  });

  it("count what was read where that can't be sealed, and give it to nobody", async () => {
    const [{ platform }] = servers as [OpenPlatform];
    const { look } = tools();
    const invoke = createInvoke(platform);
    const { limit } = await runInOneMinute(10, async () => {
      const call = { ...callOf((await newKey()).key), as: "look" };
      await invoke(look, call);
      await asSuperuser("REVOKE INSERT ON seal_outbox FROM sealoop_crossing");
      try {
        await assert.rejects(invoke(look, call), /outbox can't be written/);
      } finally {
        await asSuperuser("GRANT INSERT ON seal_outbox TO sealoop_crossing");
      }
      return await invoke(look, call);
    });
    assert.equal(limit?.remaining, LIMIT - 3);
  });
});
