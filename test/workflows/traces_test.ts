import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { TaskRecord } from "../../domain/mod.ts";
import type { Platform } from "../../calls/mod.ts";
import { recoverCall } from "../../calls/recover/mod.ts";
import { registry } from "../../operations/mod.ts";
import type { CallContext, Recovery } from "../../contract/mod.ts";
import { noteCallEffects } from "../../store/mod.ts";
import { eventually } from "../_time.ts";
import { openLoop, openParts, type TestLoop } from "./_loop.ts";

const newDecision = () => `GOV-${randomBytes(6).toString("hex")}`;

/** Calls operations on a platform as governance lets them run, and looks for what they did. */
function on(platform: Platform) {
  const start = (
    name: string,
    input: object,
    decisionId: string,
    more: Partial<CallContext> = {},
  ) => {
    const signal = new AbortController().signal;
    const caller = { keyId: "ab".repeat(8), tier: "admin" } as CallContext["caller"];
    const call = { caller, door: "rest", requestId: "1", signal, progress() {}, decisionId };
    const one = registry.get(name)!;
    const context = { ...platform, ...call, detached: true, ...more };
    return one.run(input, context as never) as Promise<{ workflow_id: string; run_id: string }>;
  };
  const trace = (
    operation: string,
    decisionId: string,
    { since = new Date(), awaited = false } = {},
  ): Promise<Recovery> => recoverCall(platform, { operation, decisionId, since, awaited });
  /** Lists lag a moment behind, and that is told. */
  const found = (...of: Parameters<typeof trace>) =>
    eventually(() => trace(...of).catch(() => undefined));
  return { platform, start, trace, found };
}

describe("a run that a call has started", () => {
  let parts: Awaited<ReturnType<typeof openParts>>;
  let start: ReturnType<typeof on>["start"];
  let trace: ReturnType<typeof on>["trace"];
  let found: ReturnType<typeof on>["found"];
  before(async () => {
    parts = await openParts(); // no worker: what is started does not begin
    ({ start, trace, found } = on(parts));
  });
  after(() => parts?.close());

  const named = [
    ["itsm.test", { scenario: "crash" }, /^test-\w{8}$/],
    ["attacks.simulate", { scenario: "ransomware" }, /^attack-\w{8}$/],
    ["itsm.loop", {}, /^sweep-\w{12}$/],
  ] as const;
  for (const [name, input, id] of named) {
    it(`is found by the call's decision: ${name}`, async () => {
      const decisionId = newDecision();
      const { workflow_id } = await start(name, input, decisionId);
      assert.match(workflow_id, id);
      const found = await trace(name, decisionId);
      assert.equal(found.state, "done");
      assert.equal(found.ids.workflow_id, workflow_id);
      const { status, run_id, result } = found.output as Record<string, unknown>;
      assert.deepEqual([status, run_id, result], ["RUNNING", found.ids.run_id, null]);
    });
  }

  const asked = [
    ["crew.dispatch", { incident: "billing is down" }, /^crew-\w{12}$/],
    ["reasoning.invoke", { prompt: "What is down?" }, /^reasoning-\w{12}$/],
  ] as const;
  for (const [name, input, id] of asked) {
    it(`is found by the call's decision, and its answer once that is there: ${name}`, async () => {
      const decisionId = newDecision();
      const run = await start(name, input, decisionId);
      assert.match(run.workflow_id, id);
      const going = { state: "done", ids: run, output: run };
      assert.deepEqual(await trace(name, decisionId), going);
      await assert.rejects(trace(name, decisionId, { awaited: true }), /has not ended yet/);
      await parts.client.workflow.getHandle(run.workflow_id).terminate();
      assert.deepEqual(await trace(name, decisionId, { awaited: true }), {
        state: "failed",
        ids: run,
        error: { name: "Unavailable", message: "The run ended as TERMINATED" },
      });
    });
  }

  it("has provably not begun where there is none, unless Temporal may have forgotten it", async () => {
    const decisionId = newDecision();
    assert.deepEqual(await trace("itsm.test", decisionId), { state: "not_done" });
    const since = new Date(Date.now() - 24 * 60 * 60_000);
    assert.deepEqual(await trace("itsm.test", decisionId, { since }), {
      state: "unknown",
      look: `for the workflow test-${decisionId.slice(4, 12)}`,
    });
  });

  const incident = `Nobody hears ${randomBytes(4).toString("hex")}`;
  const message = { messageId: "m-1", parts: [{ kind: "text", text: "billing is down" }] };
  const shared = [
    ["itsm.loop", { incident }],
    ["security.scan", {}],
    ["a2a.dispatch", message],
  ] as const;
  for (const [name, input] of shared) {
    it(`is found where others share it, by who began it, and by who joined it: ${name}`, async () => {
      const [first, second, third, noted] = [0, 1, 2, 3].map(newDecision) as [
        ...[string, string, string, string],
      ];
      const run = await start(name, input, first);
      const joined = await start(name, input, second);
      assert.deepEqual([joined.workflow_id, joined.run_id], [run.workflow_id, run.run_id]);
      await noteCallEffects(parts.store.asPlatform(), noted, { workflow_id: run.workflow_id });
      await parts.client.workflow.getHandle(run.workflow_id).terminate();
      const another = await start(name, input, third);
      assert.notEqual(another.run_id, run.run_id);
      for (
        const [decisionId, run_id] of [
          [first, run.run_id],
          [second, run.run_id],
          [third, another.run_id],
        ] as const
      ) {
        const its = await found(name, decisionId);
        assert.equal(its.state, "done");
        assert.deepEqual(its.ids, { workflow_id: run.workflow_id, run_id });
      }
      assert.deepEqual(await found(name, noted), { state: "not_done" }, "it was never asked for");
      assert.deepEqual(await trace(name, newDecision()), { state: "not_done" });
    });
  }

  it("is asked to end by who was let, and by nobody after that", async () => {
    const [first, second] = [newDecision(), newDecision()];
    const { workflow_id, run_id } = await start("itsm.test", { scenario: "crash" }, newDecision());
    await start("workflows.cancel", { workflow_id }, first);
    await start("workflows.cancel", { workflow_id }, second).catch(() => {}); // it was asked already
    assert.deepEqual(await found("workflows.cancel", first), {
      state: "done",
      ids: { workflow_id, run_id },
      output: { workflow_id, cancel_requested: true },
    });
    assert.deepEqual(await found("workflows.cancel", second), { state: "not_done" });
    assert.deepEqual(await trace("workflows.cancel", newDecision()), { state: "not_done" });
  });

  it("may have begun where there is no note of it any more", async () => {
    const since = new Date(Date.now() - 31 * 24 * 60 * 60_000);
    assert.deepEqual(await trace("security.scan", newDecision(), { since }), { state: "unknown" });
  });

  it("can't be told of by what makes nothing that could be found", async () => {
    assert.deepEqual(await trace("receipts.seal", newDecision()), { state: "unknown" });
  });
});

describe("what a call has asked of a run", function () {
  this.timeout(60_000);
  let loop: TestLoop;
  let start: ReturnType<typeof on>["start"];
  let trace: ReturnType<typeof on>["trace"];
  let found: ReturnType<typeof on>["found"];
  before(async () => {
    loop = await openLoop();
    ({ start, trace, found } = on(loop));
  });
  after(() => loop?.stop());

  it("is given again where its answer is there", async () => {
    const decisionId = newDecision();
    const given = await start("reasoning.invoke", { prompt: "Hello" }, decisionId, {
      detached: false,
    });
    const { workflow_id, run_id } = given;
    assert.deepEqual(await trace("reasoning.invoke", decisionId, { awaited: true }), {
      state: "done",
      ids: { workflow_id, run_id },
      output: given,
    });
  });

  it("is a task that a message began, what was said in it, and that it was cancelled", async () => {
    const [begun, said, canceled, noted] = [0, 1, 2, 3].map(newDecision) as [
      ...[string, string, string, string],
    ];
    const say = (message_id: string, text: string, decisionId: string, more = {}) =>
      start("a2a.message", { message_id, parts: [{ text }], ...more }, decisionId) as Promise<
        unknown
      > as Promise<TaskRecord>;
    const { id: task_id } = await say("m-1", "Hello", begun);
    const stateOf = async (decisionId: string, name = "a2a.message") => {
      const its = await found(name, decisionId);
      assert.equal(its.state, "done");
      assert.deepEqual(its.ids, { task_id });
      return (its.output as TaskRecord).state;
    };
    await eventually(async () => await stateOf(begun) === "input-required" || undefined);
    const { version } = await say("m-2", "Hello again", said, { task_id });
    const again = await found("a2a.message", said);
    assert.equal(again.state, "done");
    assert.equal((again.output as TaskRecord).version, version);
    await start("a2a.cancel", { task_id }, canceled);
    assert.equal(await stateOf(canceled, "a2a.cancel"), "canceled");
    await noteCallEffects(loop.store.asPlatform(), noted, { task_id });
    assert.deepEqual(await found("a2a.message", noted), { state: "not_done" });
    assert.deepEqual(await trace("a2a.message", newDecision()), { state: "not_done" });
  });
});
