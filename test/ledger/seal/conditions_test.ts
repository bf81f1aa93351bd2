import assert from "node:assert/strict";
import type pg from "pg";
import { openSealer, type Sealer } from "../../../ledger/mod.ts";
import {
  addStop,
  countingIn,
  type Entered,
  type GovernanceInForce,
  governanceInForce,
  lettingIn,
  openStore,
  removeStop,
  setPolicy,
  type Store,
  takingOf,
  type Use,
} from "../../../store/mod.ts";
import { type TestDatabase, testDatabase } from "../../_servers.ts";
import { withinOneDay } from "../../_time.ts";

const request = () => ({
  category: "tool_call",
  actor: "test",
  subject: "condition",
  action: "ask",
  outcome: "ok",
});

/** A limit of its own; it counts by the day. */
let uses = 0;
const use = (limit: number): Use => ({
  subject: `condition-${uses++}`,
  kind: "test",
  limit,
  periodSeconds: 86_400,
});

describe("the conditions of what is sealed", () => {
  let db: TestDatabase;
  let store: Store;
  let sealer: Sealer;
  const statements: string[] = [];

  before(async () => {
    db = await testDatabase();
    const opened = openStore(db.urls.app, "app", 4);
    const pool = Object.create(opened.pool, {
      query: {
        value: (asked: pg.QueryConfig) => {
          if (asked.name?.startsWith("seal_insert")) statements.push(asked.name);
          return opened.pool.query(asked);
        },
      },
    });
    store = { ...opened, pool };
    sealer = await openSealer(store);
  });
  after(async () => {
    await sealer.close();
    await store.close();
  });
  beforeEach(async () => {
    await withinOneDay(60);
    statements.length = 0;
  });

  /** Asks for as many receipts at once, each where it is let in. */
  async function letIn(
    many: number,
    by: GovernanceInForce,
    wanted: Use,
  ): Promise<(Entered & { holds: boolean })[]> {
    return await Promise.all(Array.from({ length: many }, async () => {
      const { condition, read } = lettingIn(by, wanted);
      const { holds, found } = await sealer.request(request(), undefined, { when: condition });
      return { holds, ...read(found) };
    }));
  }
  const sealed = async () => Number((await store.asPlatform()("seal_requests").count("id as n"))[0]!.n);

  it("are asked by the statement itself where all are alike, and each is told its own count", async () => {
    const before = await sealed();
    const told = await letIn(20, await governanceInForce(store), use(30));
    assert.deepEqual(statements, ["seal_insert_use_by_revision"]);
    assert.ok(told.every(({ holds, count }) => holds && count?.allowed));
    assert.deepEqual(told.map(({ count }) => count?.remaining), Array.from(told, (_, n) => 29 - n));
    assert.equal(await sealed() - before, 20);
  });

  it("hold for exactly as many as there is room for", async () => {
    const limited = use(30);
    const now = await governanceInForce(store);
    const before = await sealed();
    await letIn(20, now, limited);
    const told = await letIn(20, now, limited);
    assert.deepEqual(told.map(({ holds }) => holds), Array.from(told, (_, n) => n < 10));
    assert.deepEqual(told.map(({ count }) => count?.remaining), [
      ...Array.from({ length: 10 }, (_, n) => 9 - n),
      ...Array(10).fill(0),
    ]);
    assert.equal(await sealed() - before, 30);
  });

  it("hold for none where nothing is allowed at all", async () => {
    const before = await sealed();
    const none = use(0);
    const told = await letIn(3, await governanceInForce(store), none);
    assert.deepEqual(
      told.map(({ holds, count }) => [holds, count?.allowed]),
      Array(3).fill([false, false]),
    );
    const { condition, read } = countingIn(none);
    const { holds, found } = await sealer.request(request(), undefined, { when: condition });
    assert.deepEqual([holds, read(found).allowed], [false, false]);
    assert.equal(await sealed(), before);
  });

  it("are held to their limit over statements at the same time", async () => {
    const limited = use(50);
    const now = await governanceInForce(store);
    const other = await openSealer(store);
    try {
      const told = await Promise.all(Array.from({ length: 100 }, async (_, n) => {
        const { condition } = n % 3 ? lettingIn(now, limited) : countingIn(limited);
        return await (n % 2 ? sealer : other).request(request(), undefined, { when: condition });
      }));
      assert.equal(told.filter(({ holds }) => holds).length, 50);
    } finally {
      await other.close();
    }
  });

  it("do not hold once a policy or a switch has changed, which is told and counted for nobody", async () => {
    const limited = use(2);
    const seen = [await governanceInForce(store)];
    const stop = { kind: "tool", name: "x", reason: "test" } as const;
    for (
      const change of [
        () => addStop(store.asPlatform(), stop),
        () => removeStop(store.asPlatform(), stop),
        () => setPolicy(store, { rules: [] }, () => Promise.resolve(), "governance_policies"),
      ]
    ) {
      await change();
      const now = await governanceInForce(store);
      assert.ok(
        seen.every(({ revision }) => revision !== now.revision),
        "never one that was before",
      );
      for (const old of seen) {
        const told = await letIn(2, old, limited);
        assert.deepEqual(told, Array(2).fill({ holds: false, inForce: now }));
      }
      seen.push(now);
    }
    const told = await letIn(2, seen.at(-1)!, limited);
    assert.deepEqual(told.map(({ count }) => count?.remaining), [1, 0]);
  });

  it("hold for servers of the version before, too, by all that is in force", async () => {
    const { revision: _, ...now } = await governanceInForce(store);
    const value = (in_force: unknown) => ({ in_force, use: takingOf(use(9)) });
    const ask = async (in_force: unknown) => {
      const when = { function: "let_in", value: value(in_force) };
      return await sealer.request(request(), undefined, { when });
    };
    assert.equal((await ask(now)).holds, true);
    const { holds, found } = await ask({ ...now, version: now.version + 1 });
    assert.equal(holds, false);
    const { in_force } = found as { in_force: GovernanceInForce };
    assert.deepEqual(in_force, await governanceInForce(store));
    assert.equal((await ask(in_force)).holds, true);
  });
});
