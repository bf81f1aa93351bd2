/** Calls with an idempotency key in several processes, of which one is killed. */
import assert from "node:assert/strict";
import { z } from "zod";
import { createInvoke, type Platform } from "../../calls/mod.ts";
import { asProblem, defineOperation, outputValue } from "../../contract/mod.ts";
import { registry } from "../../operations/mod.ts";
import type { OpenPlatform } from "../../processes/mod.ts";
import { type Db, HOLDER_LOCK, type Store } from "../../store/mod.ts";
import { findKeyById } from "../../store/keys/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { eventually } from "../_time.ts";
import { countedRun, countRuns } from "./_counted_run.ts";
import { type Moment, runAndKill } from "./_kills.ts";
import { issueAgentKey, type Json, openTestPlatform } from "./_platform.ts";

/** An operation that runs until it is released. */
function createSlow() {
  let release = () => {};
  let begin = () => {};
  const begun = new Promise<void>((resolve) => begin = resolve);
  const released = new Promise<void>((resolve) => release = resolve);
  let run = 0;
  const operation = defineOperation<Platform>()({
    name: "test.slow",
    summary: "Run for long",
    group: "test",
    effect: "write",
    access: "key",
    input: z.object({}),
    output: z.object({ run: z.number() }),
    tool: { run_long: ["full"] },
    governance: { rule: "key-decides" },
    example: { input: {}, output: { run: 1 } },
    async run() {
      begin();
      await released;
      return { run: ++run };
    },
  });
  return { operation, begun, release: () => release() };
}

const slow = createSlow();
const operations = new Map(
  [...registry.values(), countedRun, slow.operation].map((one) => [one.name, one]),
);

describe("a call with an idempotency key in several processes", () => {
  let database: TestDatabase;
  const open: OpenPlatform[] = [];
  const invokes: ReturnType<typeof createInvoke>[] = [];
  let store: Store;
  let credential: string;
  /** Is called before the second process looks whether the other one lives. */
  let beforeLook: () => Promise<unknown> = () => Promise.resolve();
  before(async () => {
    database = await testDatabase();
    for (const watched of [(one: Store) => one, watchLooks]) {
      const opened = await openTestPlatform(database);
      const { platform } = opened;
      open.push(opened);
      invokes.push(createInvoke({ ...platform, store: watched(platform.store), operations }));
    }
    store = open[0]!.platform.store;
    credential = (await issueAgentKey(store, { tier: "admin" })).key;
  });
  after(async () => {
    for (const one of open) await one.close();
    await database?.drop();
  });

  function watchLooks(store: Store): Store {
    const db: Db = {
      ...store.db,
      async first(sql, values) {
        if (String(sql).includes("pg_locks")) await beforeLook();
        return await store.db.first(sql, values);
      },
    };
    return { ...store, forTenant: () => ({ ...store, db }) };
  }

  /** Makes a call in one of the two processes. @returns its output, or the name of its error */
  async function call(
    name: string,
    input: Json,
    idempotencyKey: string,
    process = 0,
    { anonymous = false } = {},
  ) {
    const operation = operations.get(name)!;
    const door = operation.tool ? "mcp" as const : "rest" as const;
    const [as] = Object.keys(operation.tool ?? operation.rest!);
    return await invokes[process]!(operation, {
      door,
      as: as!,
      input,
      credential: anonymous ? undefined : credential,
      idempotencyKey,
      requestId: "1",
      address: "127.0.0.1",
      signal: new AbortController().signal,
    }).then(
      ({ output, earlier }): Json => ({ output: outputValue(output), earlier }),
      (error): Json => ({ error: asProblem(error).name, message: asProblem(error).message }),
    );
  }

  async function killed(
    moment: Moment,
    name: string,
    input: Json,
    idempotencyKey: string,
    whileRunning?: () => Promise<void>,
    { anonymous = false } = {},
  ) {
    const { tool, rest } = operations.get(name)!;
    const [as] = Object.keys(tool ?? rest!);
    const door = tool ? "mcp" as const : "rest" as const;
    const key = anonymous ? undefined : credential;
    await runAndKill(
      store,
      [{ moment, operation: name, door, as: as!, input, credential: key, idempotencyKey }],
      {},
      whileRunning,
    );
  }
  const countTickets = async (title: string) =>
    (await store.asPlatform().query("SELECT FROM tickets WHERE title = $1", [title])).length;

  it("runs once, whichever process gets it first", async () => {
    const keys = Array.from({ length: 8 }, (_, n) => `race ${n}`);
    const all = await Promise.all(
      keys.flatMap((key, n) =>
        [0, 1, 0, 1].map((process) => call(countedRun.name, { n: 100 + n }, key, process))
      ),
    );
    for (const [n, key] of keys.entries()) {
      assert.equal(await countRuns(store, 100 + n), 1);
      const { output, earlier } = await call(countedRun.name, { n: 100 + n }, key, 1);
      assert.deepEqual(output, {});
      assert.ok(earlier);
    }
    const errors = all.flatMap(({ error }) => error ?? []);
    assert.deepEqual([...new Set(errors)].filter((name) => name !== "StillRunning"), []);
  });

  it("is still running as long as its process lives, however long ago it began", async () => {
    const input = { title: "Runs elsewhere" };
    await killed("between", "tickets.create", input, "alive", async () => {
      assert.equal((await call("tickets.create", input, "alive")).error, "StillRunning");
    });
    assert.equal(await countTickets(input.title), 0);
  });

  it("is still running where its process has only lost the connection that shows that it lives", async () => {
    const connections = () =>
      store.asPlatform().query<{ pid: number }>(
        `SELECT pid FROM pg_locks JOIN pg_database d ON d.oid = database
         WHERE d.datname = current_database() AND locktype = 'advisory' AND classid = $1 AND granted`,
        [HOLDER_LOCK],
      );
    const { release } = slow;
    const first = call(slow.operation.name, {}, "cut off");
    await slow.begun;
    const lost = await connections();
    for (const { pid } of lost) {
      await database.executeAsSuperuser(`SELECT pg_terminate_backend(${pid})`);
    }
    const untilTakenAgain = () =>
      eventually(async () => (await connections()).length === lost.length || undefined);
    let looks = 0;
    beforeLook = async () => { // between its two looks, which on a busy machine may be sooner
      if (++looks === 2) await untilTakenAgain();
    };
    assert.equal((await call(slow.operation.name, {}, "cut off", 1)).error, "StillRunning");
    beforeLook = () => Promise.resolve();
    await untilTakenAgain();
    release();
    assert.deepEqual((await first).output, { run: 1 });
    const again = await call(slow.operation.name, {}, "cut off", 1);
    assert.deepEqual([again.output, Boolean(again.earlier)], [{ run: 1 }, true]);
  });

  it("is not run again for a caller without a key, as nobody can tell what it did", async () => {
    const input = { description: "The printer on floor 3 jams" };
    const anonymous = { anonymous: true };
    await killed("after", "incidents.classify", input, "anonymous", undefined, anonymous);
    const { error } = await call("incidents.classify", input, "anonymous", 0, anonymous);
    assert.equal(error, "OutcomeUnknown");
    await killed("before", "incidents.classify", input, "other", undefined, anonymous);
    assert.equal(
      (await call("incidents.classify", input, "other", 0, anonymous)).error,
      "OutcomeUnknown",
    );
  });

  it("gives what it made if its process was killed after that, and makes nothing more", async () => {
    const input = { title: "Made by a dead process" };
    await killed("after", "tickets.create", input, "made");
    const found = await call("tickets.create", input, "made");
    assert.equal(found.output?.title, input.title, JSON.stringify(found));
    assert.ok(found.earlier);
    assert.deepEqual((await call("tickets.create", input, "made", 1)).output, found.output);
    assert.equal(await countTickets(input.title), 1);
  });

  it("runs if its process was killed before it did anything", async () => {
    const input = { title: "Never begun" };
    await killed("before", "tickets.create", input, "not begun");
    assert.equal(await countTickets(input.title), 0);
    const both = await Promise.all(
      [0, 1].map((n) => call("tickets.create", input, "not begun", n)),
    );
    assert.ok(both.some(({ output }) => output), JSON.stringify(both));
    assert.equal(await countTickets(input.title), 1);
  });

  it("is not run again if nobody can tell what it did", async () => {
    await killed("after", countedRun.name, { n: 7 }, "unknown");
    for (let n = 0; n < 2; n++) {
      const { error, message } = await call(countedRun.name, { n: 7 }, "unknown");
      assert.equal(error, "OutcomeUnknown");
      assert.match(message, /was begun, and its process ended .* It may have been done: look at/);
    }
    assert.equal(await countRuns(store, 7), 1);
  });

  it("gives its answer without the secret that its process took along", async () => {
    const input = { tenant: "acme", tier: "free" };
    await killed("after", "keys.generate", input, "lost key");
    const { output, earlier } = await call("keys.generate", input, "lost key");
    assert.deepEqual([output.api_key, output.tier, Boolean(earlier)], [null, "free", true]);
    assert.ok(await findKeyById(store.db, output.key_id));
  });

  it("runs if its process was killed before it committed", async () => {
    const input = { title: "Never committed" };
    await killed("between", "tickets.create", input, "not committed");
    assert.equal(await countTickets(input.title), 0);
    const { output, earlier } = await call("tickets.create", input, "not committed");
    assert.deepEqual([output.title, earlier], [input.title, undefined]);
    assert.equal(await countTickets(input.title), 1);
  });
});
