import assert from "node:assert/strict";
import type { Recovery } from "../../contract/mod.ts";
import type { OpenPlatform } from "../../processes/mod.ts";
import type { Store } from "../../store/mod.ts";
import { getHeldCall, intendHeldCall } from "../../store/approvals/mod.ts";
import { getTicket } from "../../store/incidents/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { putApprovedCall, runApprovedCall } from "./_approved_calls.ts";
import { countedRun, countRuns } from "./_counted_run.ts";
import { runAndKill } from "./_kills.ts";
import { findRequested, issueAgentKey, openTestPlatform } from "./_platform.ts";

const approvalIdOf = (n: number) => `APR-${String(n).padStart(12, "0")}`;

describe("an approved call whose process was killed", () => {
  let database: TestDatabase;
  let open: OpenPlatform;
  let store: Store;
  let keyId: string;

  before(async () => {
    database = await testDatabase();
    open = await openTestPlatform(database, {}, "worker");
    store = open.platform.store;
    keyId = (await issueAgentKey(store)).record.id;
    const killed = [1, 2, 3, 4];
    for (const n of killed) await putApproved(n);
    await runAndKill(
      store,
      killed.map((n) => ({
        moment: "after",
        operation: countedRun.name,
        door: "mcp",
        as: "count_run",
        input: { n },
        approvalId: approvalIdOf(n),
      })),
    );
  });
  after(async () => {
    await open?.close();
    await database?.drop();
  });

  const putApproved = (n: number) =>
    putApprovedCall(store, {
      approvalId: approvalIdOf(n),
      operation: countedRun,
      as: "count_run",
      input: { n },
      keyId,
    });
  const runAgain = (id: string, operation = countedRun) =>
    runApprovedCall(open.platform, id, operation);

  it("is sealed as unknown and left to people, and never runs twice", async () => {
    const id = approvalIdOf(1);
    assert.equal((await getHeldCall(store.asPlatform(), id))?.state, "begun");
    assert.equal((await findRequested(store, `${id}-intent`)).outcome, "intended");
    const result = await runAgain(id);
    assert.equal(result.state, "unknown");
    assert.deepEqual(await runAgain(id), result);
    assert.equal(await countRuns(store, 1), 1);
    assert.equal((await findRequested(store, `${id}-outcome`)).outcome, "unknown");
    const { error } = (await getHeldCall(store.asPlatform(), id))!;
    assert.equal(error?.name, "OutcomeUnknown");
    assert.match(
      error.message,
      /^APR-000000000001 was begun, .* It may have been done: look at what it acts on, .* in ticket INC-\w{12}$/,
    );
    const [ticketId] = /INC-\w{12}/.exec(error.message)!;
    const { title, status, escalated } = (await getTicket(store.asPlatform(), ticketId))!;
    assert.deepEqual([status, escalated], ["open", true]);
    assert.match(title, /Nobody knows whether count_run was done/);
  });

  for (
    const [n, recovery, state, error, outcome] of [
      [2, { state: "done", ids: { disk: "sda" }, output: { n: 2 } }, "done", null, "success"],
      [3, { state: "not_done" }, "refused", "Unavailable", "not_done"],
      [4, { state: "unknown", look: "at disk sda" }, "unknown", "OutcomeUnknown", "unknown"],
    ] as const satisfies [number, Recovery, string, string | null, string][]
  ) {
    it(`is sealed as ${outcome} where recovery says ${recovery.state}`, async () => {
      const id = approvalIdOf(n);
      const operation = {
        ...countedRun,
        durability: { ...countedRun.durability, recover: () => Promise.resolve(recovery) },
      };
      const result = await runAgain(id, operation);
      assert.deepEqual([result.state, result.error], [state, error]);
      assert.deepEqual(await runAgain(id, operation), result);
      assert.equal(await countRuns(store, n), 1);
      const receipt = await findRequested(store, `${id}-outcome`);
      assert.equal(receipt.outcome, outcome);
      const held = (await getHeldCall(store.asPlatform(), id))!;
      if (recovery.state === "done") {
        assert.deepEqual(JSON.parse(held.output!), recovery.output);
        assert.deepEqual(receipt.details.found, recovery.ids);
      } else if (recovery.state === "unknown") {
        assert.match(
          held.error!.message,
          /look at disk sda, as people are asked to in ticket INC-/,
        );
      }
    });
  }

  it("runs once if it was intended and never begun", async () => {
    const id = approvalIdOf(5);
    await putApproved(5);
    await intendHeldCall(store.asPlatform(), id);
    const results = await Promise.allSettled([runAgain(id), runAgain(id)]);
    const states = results.map((result) => result.status === "fulfilled" && result.value.state);
    assert.ok(states.includes("done"));
    assert.equal((await runAgain(id)).state, "done");
    assert.equal(await countRuns(store, 5), 1);
  });
});
