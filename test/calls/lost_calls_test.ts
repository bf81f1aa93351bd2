import assert from "node:assert/strict";
import { type Context, createInvoke } from "../../calls/mod.ts";
import { settleLostCalls } from "../../calls/recover/mod.ts";
import { Problem, type Recovery } from "../../contract/mod.ts";
import { sealArguments } from "../../ledger/mod.ts";
import type { OpenPlatform } from "../../processes/mod.ts";
import type { Store } from "../../store/mod.ts";
import { listDecisions, recordDecisions } from "../../store/calls/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { countedRun, countRuns } from "./_counted_run.ts";
import { makeOpenDecisionsOld, runAndKill } from "./_kills.ts";
import { findRequested, issueAgentKey, openTestPlatform } from "./_platform.ts";
import { asSuperuser } from "../_superuser.ts";

describe("settleLostCalls()", () => {
  let database: TestDatabase;
  let open: OpenPlatform;
  let tools: OpenPlatform;
  let store: Store;
  let credential: string;
  before(async () => {
    database = await testDatabase();
    open = await openTestPlatform(database, {}, "worker");
    tools = await openTestPlatform(database, {}, "tools");
    store = open.platform.store;
    credential = (await issueAgentKey(store)).key;
  });
  after(async () => {
    await open?.close();
    await tools?.close();
    await database?.drop();
  });

  const settle = () => settleLostCalls(open.platform);

  it("seals a call as unknown once, and not before its decision is old", async () => {
    const input = { n: 1 };
    const call = { operation: countedRun.name, door: "mcp", as: "count_run" } as const;
    await runAndKill(store, [{ ...call, moment: "after", input, credential }]);
    await asSuperuser(store).execute(
      "UPDATE governance_decisions SET at = now() + interval '1 minute'",
    );
    assert.equal(await settle(), 0, "it may still be running");
    const [decision] = await makeOpenDecisionsOld(store);
    assert.equal((await findRequested(store, decision!.receipt_id)).outcome, "allow");
    assert.equal(await findRequested(store, decision!.call_receipt_id), undefined);
    assert.equal(await settle(), 1);
    assert.equal(await settle(), 0);
    const { outcome, details } = await findRequested(store, decision!.call_receipt_id);
    assert.deepEqual([outcome, details.decision_id], ["unknown", decision!.id]);
  });

  it("tries again where it cannot find out at the moment what a call did", async () => {
    const input = { n: 3 };
    const call = { operation: countedRun.name, door: "mcp", as: "count_run" } as const;
    await runAndKill(store, [{ ...call, moment: "after", input, credential }]);
    const [decision] = await makeOpenDecisionsOld(store);
    const fail = () => Promise.reject(new Problem("Unavailable", "Temporal is away"));
    const find = () => Promise.resolve({ state: "done", ids: {}, output: {} } as const);
    const settleBy = (recover: () => Promise<Recovery>) => {
      const operations = new Map([[countedRun.name, { ...countedRun, durability: { recover } }]]);
      return settleLostCalls({ ...open.platform, operations });
    };
    assert.equal(await settleBy(fail), 0);
    assert.equal(await findRequested(store, decision!.call_receipt_id), undefined);
    assert.equal(await settleBy(find), 1);
    assert.equal((await findRequested(store, decision!.call_receipt_id)).outcome, "success");
  });

  it("seals a call as not done if its decision was not sealed", async () => {
    const db = store.asPlatform();
    const [decision] = await listDecisions(db, { limit: 1 });
    const lost = {
      ...decision!,
      id: "GOV-000000000001",
      receiptId: "never-sealed",
      callReceiptId: "not-done",
      runs: true,
      holder: null,
    };
    const asTools = tools.platform.store.asPlatform();
    await recordDecisions(asTools, [lost], sealArguments(asTools, []));
    await makeOpenDecisionsOld(store);
    assert.equal(await settle(), 1);
    assert.equal((await findRequested(store, "not-done")).outcome, "not_done");
  });

  /** Makes a call that takes long, and has it settled as if its process were gone. */
  async function settleWhileItRuns(
    makeSlow: (wait: () => Promise<void>) => typeof countedRun,
    n: number,
  ) {
    let begin!: () => void;
    const begun = new Promise<void>((resolve) => begin = resolve);
    let finish!: () => void;
    const mayFinish = new Promise<void>((resolve) => finish = resolve);
    const slow = makeSlow(async () => {
      begin();
      await mayFinish;
    });
    const operations = new Map([[slow.name, slow]]);
    const call = createInvoke(tools.platform)(slow, {
      door: "mcp",
      requestId: "1",
      credential,
      address: "127.0.0.1",
      as: "count_run",
      input: { n },
      signal: new AbortController().signal,
    });
    await begun;
    const [decision] = await makeOpenDecisionsOld(store);
    assert.equal(await settle(), 0, "its process lives");
    await asSuperuser(store).execute(
      "UPDATE governance_decisions SET holder = 1 WHERE id = $1", // as after a lost connection
      [decision!.id],
    );
    assert.equal(await settleLostCalls({ ...open.platform, operations }), 1);
    finish();
    return { call, callReceiptId: decision!.call_receipt_id };
  }

  it("waits as long as the process lives; a late end gets a receipt that supersedes", async () => {
    const { call, callReceiptId } = await settleWhileItRuns((wait) => ({
      ...countedRun,
      async run() {
        await wait();
        return {};
      },
    }), 2);
    const { receiptId } = await call;
    assert.notEqual(receiptId, callReceiptId);
    const { outcome, supersedes } = await findRequested(store, receiptId!);
    assert.deepEqual([outcome, supersedes], ["success", callReceiptId]);
  });

  it("is the end of a call that has not committed: it can't any more", async () => {
    const { call, callReceiptId } = await settleWhileItRuns((wait) => ({
      ...countedRun,
      durability: { commits: true },
      run: async (_, context) =>
        await (context as Context).commit(async (trx) => {
          await trx.execute(
            "SELECT take_usage('{counted run}', '{4}', '{epoch}', '{1}', '{1}', '{9}')",
          );
          await wait();
          return {};
        }),
    }), 4);
    await assert.rejects(call, { name: "Unavailable", receiptId: callReceiptId });
    assert.equal((await findRequested(store, callReceiptId)).outcome, "not_done");
    assert.equal(await countRuns(store, 4), 0);
  });
});
