/** An act in n8n whose worker dies, whose run is ended from outside, or which is stopped. */
import assert from "node:assert/strict";
import type { WorkflowHandleWithFirstExecutionRunId } from "@temporalio/client";
import { receiptIdOf } from "../../calls/mod.ts";
import { type ActResult, actWorkflowId, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { getReceipt } from "../../ledger/mod.ts";
import { addStop, noteCallEffects, removeStop } from "../../store/calls/mod.ts";
import { listMessages } from "../../store/notices/mod.ts";
import {
  type OutsideTestSystems,
  startOutsideSystems,
} from "../operations/integrations/_outside_systems.ts";
import { storeAs } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";
import { eventually } from "../_time.ts";
import { openLoop, serveNoEngine, type TestLoop } from "./_loop.ts";

describe("outsideAct", () => {
  let systems: OutsideTestSystems;
  let loop: TestLoop;
  /** Throws after an attempt, as if its worker had died. */
  let isLost = false;
  /** Name of an activity that fails until the run is ended. */
  let heldBack = "";
  before(async () => {
    systems = await startOutsideSystems();
    loop = await openLoop({
      serve: serveNoEngine,
      settings: {
        SEALOOP_N8N_URL: systems.url,
        SEALOOP_CREDENTIALS: '{"n8n":"of the test"}',
        SEALOOP_ACT_WAIT_SECONDS: "2",
      },
      watch: (when, name) => {
        if (when === "before" && name === heldBack) throw new Error("Away");
        if (isLost && when === "after" && name === "attemptAct") throw new Error("Killed");
      },
    });
  });
  beforeEach(() => {
    systems.acts.length = 0;
    systems.taking = "done";
    isLost = false;
    heldBack = "";
  });
  after(async () => {
    await loop?.stop();
    systems.close();
  });

  /** Orders an act as the worker does once people have approved it. */
  async function order(id: string) {
    const order = { act_id: `ACT-0000000000${id}`, decision_id: `GOV-0000000000${id}` };
    const { db } = loop.store;
    const act = { system: "n8n", workflow: "tqX81", body: {} };
    await noteCallEffects(db, order.decision_id, { act_id: order.act_id }, { act, key_id: null });
    return await loop.client.workflow.start(WORKFLOW.outsideAct, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: actWorkflowId(order.act_id),
      args: [order],
    });
  }
  const reconcile = async () =>
    await loop.client.workflow.execute(WORKFLOW.reconcileRuns, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "reconcile",
      args: [],
    }) as { sealed: number };
  const endReceiptOf = (
    { workflowId, firstExecutionRunId }: WorkflowHandleWithFirstExecutionRunId,
  ) => receiptIdOf({ workflow_id: workflowId, run_id: firstExecutionRunId }, "ENDED");
  const resultOf = async (run: { result(): Promise<unknown> }) => await run.result() as ActResult;

  it("is done once where the worker dies in the attempt, as n8n shows it", async () => {
    isLost = true;
    const { state, code, execution_id } = await resultOf(await order("01"));
    assert.deepEqual([state, code, execution_id], ["done", "execution_success", "1000"]);
    assert.equal(systems.acts.length, 1);
  });

  it("is not done while a stop applies, whenever the worker comes to it", async () => {
    const superuser = asSuperuser(loop.store);
    const stop = { kind: "tool", name: "soar_trigger", reason: "Not on Fridays" } as const;
    await superuser.transaction((trx) => addStop(trx, stop));
    const { state, code } = await resultOf(await order("02"));
    await superuser.transaction((trx) => removeStop(trx, stop));
    assert.deepEqual([state, code, systems.acts.length], ["not_done", "stopped", 0]);
  });

  it("is not done where its order is old, or its key is not valid any more", async () => {
    const { db } = await storeAs(loop.store, "gateway");
    const start = async (id: string, key_id: string | null) => {
      const order = { act_id: `ACT-0000000000${id}`, decision_id: `GOV-0000000000${id}` };
      const act = { system: "n8n", workflow: "tqX81", body: {} };
      await noteCallEffects(db, order.decision_id, { act_id: order.act_id }, { act, key_id });
      await asSuperuser(loop.store).execute(
        "UPDATE call_effects SET at = at - interval '16 minutes' WHERE decision_id = $1 AND $2",
        [order.decision_id, key_id === null],
      );
      const { state, code } = await loop.client.workflow.execute(WORKFLOW.outsideAct, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: actWorkflowId(order.act_id),
        args: [order],
      }) as ActResult;
      return `${state} ${code}`;
    };
    assert.equal(await start("04", null), "not_done expired");
    assert.equal(await start("05", "revoked"), "not_done key_invalid");
    assert.equal(systems.acts.length, 0);
  });

  it("is sealed as not done where its run is ended from outside before the intent", async () => {
    heldBack = "intendAct";
    const run = await order("06");
    await run.terminate("by hand");
    await eventually(async () => (await reconcile()).sealed === 1 || undefined); // listing lags behind
    const { text } = await eventually(() => getReceipt(loop.store, endReceiptOf(run)));
    const { outcome, details } = JSON.parse(text);
    assert.deepEqual([outcome, details.code], ["not_done", "ended_from_outside"]);
    const { messages } = await listMessages(loop.store.asPlatform(), { kind: "act.unknown" }, 10);
    assert.deepEqual([messages.length, systems.acts.length], [0, 0]);
  });

  it("is sealed as unknown, and told, where its run is ended from outside", async () => {
    systems.taking = "swallowed";
    heldBack = "sealAct"; // so that it does not end by itself
    const run = await order("03");
    await eventually(() => Promise.resolve(systems.acts.length === 1 || undefined));
    await run.terminate("by hand");
    await eventually(async () => (await reconcile()).sealed === 1 || undefined); // listing lags behind
    const { messages } = await listMessages(loop.store.asPlatform(), { kind: "act.unknown" }, 10);
    assert.deepEqual(messages.map(({ refs }) => refs.act_id), ["ACT-000000000003"]);
    assert.match(messages[0]!.text, /ended from outside/);
    await loop.sealer.sealed(messages[0]!.refs.receipt_id!);
    assert.equal((await reconcile()).sealed, 0, "once");
    assert.equal(systems.acts.length, 1);
  });
});
