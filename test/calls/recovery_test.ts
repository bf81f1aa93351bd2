import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Platform } from "../../calls/mod.ts";
import { recoverCall } from "../../calls/recover/mod.ts";
import type { CallContext, Recovery } from "../../contract/mod.ts";
import { PLATFORM_TENANT, type TaskRecord } from "../../contract/domain/mod.ts";
import { registry } from "../../operations/mod.ts";
import { noteCallEffects } from "../../store/calls/mod.ts";
import { eventually } from "../_time.ts";
import { openLoop, openParts, type TestLoop } from "../workflows/_loop.ts";

const newDecision = () => `GOV-${randomBytes(6).toString("hex")}`;

/** Returns functions that call operations of a platform, and recover what the calls did. */
function callsOn(platform: Platform) {
  const start = (
    name: string,
    input: object,
    decisionId: string,
    more: Partial<CallContext> = {},
  ) => {
    const signal = new AbortController().signal;
    const caller = {
      keyId: "ab".repeat(8),
      tenant: PLATFORM_TENANT,
      tier: "admin",
    } as CallContext["caller"];
    const call = { caller, door: "rest", requestId: "1", signal, progress() {}, decisionId };
    const one = registry.get(name)!;
    const context = { ...platform, ...call, detached: true, ...more };
    return one.run(input, context as never) as Promise<{ workflow_id: string; run_id: string }>;
  };
  const recover = (
    operation: string,
    decisionId: string,
    { since = new Date(), awaited = false } = {},
  ): Promise<Recovery> => recoverCall(platform, { operation, decisionId, since, awaited });
  /** Temporal lists runs a moment late; recovery throws until then. */
  const recovered = (...args: Parameters<typeof recover>) =>
    eventually(() => recover(...args).catch(() => undefined));
  return { start, recover, recovered };
}

describe("recoverCall(), of a call that started a run", () => {
  let parts: Awaited<ReturnType<typeof openParts>>;
  let start: ReturnType<typeof callsOn>["start"];
  let recover: ReturnType<typeof callsOn>["recover"];
  let recovered: ReturnType<typeof callsOn>["recovered"];
  before(async () => {
    parts = await openParts(); // without a worker, no run begins
    ({ start, recover, recovered } = callsOn(parts));
  });
  after(() => parts?.close());

  const named = [
    ["itsm.test", { scenario: "crash" }, /^test-\w{8}$/],
    ["attacks.simulate", { scenario: "ransomware" }, /^attack-\w{8}$/],
    ["itsm.loop", {}, /^sweep-\w{12}$/],
  ] as const;
  for (const [name, input, id] of named) {
    it(`finds the run by the decision: ${name}`, async () => {
      const decisionId = newDecision();
      const { workflow_id } = await start(name, input, decisionId);
      assert.match(workflow_id, id);
      const found = await recover(name, decisionId);
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
    it(`finds the run by the decision, and its answer once there is one: ${name}`, async () => {
      const decisionId = newDecision();
      const run = await start(name, input, decisionId);
      assert.match(run.workflow_id, id);
      const going = { state: "done", ids: run, output: run };
      assert.deepEqual(await recover(name, decisionId), going);
      await assert.rejects(recover(name, decisionId, { awaited: true }), /has not ended yet/);
      await parts.client.workflow.getHandle(run.workflow_id).terminate();
      assert.deepEqual(await recover(name, decisionId, { awaited: true }), {
        state: "failed",
        ids: run,
        error: { name: "Unavailable", message: "The run ended as TERMINATED" },
      });
    });
  }

  it("proves that there is no run, unless Temporal may have deleted it", async () => {
    const decisionId = newDecision();
    assert.deepEqual(await recover("itsm.test", decisionId), { state: "not_done" });
    const workflow_id = `test-${decisionId.slice(4, 12)}`;
    await noteCallEffects(parts.store.asPlatform(), decisionId, { workflow_id });
    assert.deepEqual(await recover("itsm.test", decisionId), { state: "not_done" });
    const since = new Date(Date.now() - 24 * 60 * 60_000);
    assert.deepEqual(await recover("itsm.test", decisionId, { since }), {
      state: "unknown",
      look: `for the workflow ${workflow_id}`,
    });
  });

  const incident = `Unheard ${randomBytes(4).toString("hex")}`;
  const message = { messageId: "m-1", parts: [{ kind: "text", text: "billing is down" }] };
  const shared = [
    ["itsm.loop", { incident }],
    ["security.scan", {}],
    ["a2a.dispatch", message],
  ] as const;
  for (const [name, input] of shared) {
    it(`finds a shared run, for the call that started it and for those that joined it: ${name}`, async () => {
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
        const recovery = await recovered(name, decisionId);
        assert.equal(recovery.state, "done");
        assert.deepEqual(recovery.ids, { workflow_id: run.workflow_id, run_id });
      }
      assert.deepEqual(
        await recovered(name, noted),
        { state: "not_done" },
        "it was never requested",
      );
      assert.deepEqual(await recover(name, newDecision()), { state: "not_done" });
    });
  }

  it("finds the cancellation of a run, which another one may have requested", async () => {
    const [first, second] = [newDecision(), newDecision()];
    const { workflow_id, run_id } = await start("itsm.test", { scenario: "crash" }, newDecision());
    await start("workflows.cancel", { workflow_id }, first);
    await start("workflows.cancel", { workflow_id }, second).catch(() => {}); // it is cancelled already
    assert.deepEqual(await recovered("workflows.cancel", first), {
      state: "done",
      ids: { workflow_id, run_id },
      output: { workflow_id, cancel_requested: true },
    });
    assert.equal((await recover("workflows.cancel", second)).state, "done");
    assert.deepEqual(await recover("workflows.cancel", newDecision()), { state: "not_done" });
    const other = await start("itsm.test", { scenario: "crash" }, newDecision());
    const noted = newDecision();
    const ids = { workflow_id: other.workflow_id, run_id: other.run_id };
    await noteCallEffects(parts.store.asPlatform(), noted, ids);
    assert.deepEqual(await recover("workflows.cancel", noted), { state: "not_done" });
  });

  it("does not know once the record of the call may be deleted", async () => {
    const since = new Date(Date.now() - 31 * 24 * 60 * 60_000);
    assert.deepEqual(await recover("security.scan", newDecision(), { since }), {
      state: "unknown",
    });
  });

  it("does not know for an operation that leaves nothing to find", async () => {
    assert.deepEqual(await recover("receipts.seal", newDecision()), { state: "unknown" });
  });
});

describe("recoverCall(), of a call to a run", () => {
  let loop: TestLoop;
  let start: ReturnType<typeof callsOn>["start"];
  let recover: ReturnType<typeof callsOn>["recover"];
  let recovered: ReturnType<typeof callsOn>["recovered"];
  before(async () => {
    loop = await openLoop();
    ({ start, recover, recovered } = callsOn(loop));
  });
  after(() => loop?.stop());

  it("returns the answer once it is there", async () => {
    const decisionId = newDecision();
    const given = await start("reasoning.invoke", { prompt: "Hello" }, decisionId, {
      detached: false,
    });
    const { workflow_id, run_id } = given;
    assert.deepEqual(await recover("reasoning.invoke", decisionId, { awaited: true }), {
      state: "done",
      ids: { workflow_id, run_id },
      output: given,
    });
  });

  it("finds an A2A task, its messages and its cancellation", async () => {
    const [begun, said, canceled, noted] = [0, 1, 2, 3].map(newDecision) as [
      ...[string, string, string, string],
    ];
    const say = (message_id: string, text: string, decisionId: string, more = {}) =>
      start("a2a.message", { message_id, parts: [{ text }], ...more }, decisionId) as Promise<
        unknown
      > as Promise<TaskRecord>;
    const { id: task_id } = await say("m-1", "Hello", begun);
    const stateOf = async (decisionId: string, name = "a2a.message") => {
      const recovery = await recovered(name, decisionId);
      assert.equal(recovery.state, "done");
      assert.deepEqual(recovery.ids, { task_id });
      return (recovery.output as TaskRecord).state;
    };
    await eventually(async () => await stateOf(begun) === "input-required" || undefined);
    const { version } = await say("m-2", "Hello again", said, { task_id });
    const again = await recovered("a2a.message", said);
    assert.equal(again.state, "done");
    assert.equal((again.output as TaskRecord).version, version);
    await start("a2a.cancel", { task_id }, canceled);
    assert.equal(await stateOf(canceled, "a2a.cancel"), "canceled");
    await noteCallEffects(loop.store.asPlatform(), noted, { task_id });
    assert.deepEqual(await recovered("a2a.message", noted), { state: "not_done" });
    assert.deepEqual(await recover("a2a.message", newDecision()), { state: "not_done" });
  });
});
