import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Call, Trace } from "../../contract/mod.ts";
import { createTraceCall, operations, type Platform } from "../../operations/mod.ts";
import { eventually } from "./_story.ts";
import { openParts } from "./_loop.ts";

describe("a run that a call has started", () => {
  let parts: Awaited<ReturnType<typeof openParts>>;
  let platform: Platform;
  before(async () => {
    parts = await openParts(); // no worker: what is started does not begin
    const urls = { gateway: "http://127.0.0.1:1", ledger: "http://127.0.0.1:2" };
    platform = { ...parts, urls, temporal: () => Promise.resolve(parts.client) } as never;
  });
  after(() => parts?.close());

  const newDecision = () => `GOV-${randomBytes(6).toString("hex")}`;
  const start = (name: string, input: object, decisionId: string) => {
    const signal = new AbortController().signal;
    const caller = { keyId: "ab".repeat(8) } as Call["caller"];
    const call = { caller, door: "rest", requestId: "1", signal, progress() {}, decisionId };
    const one = operations.find((operation) => operation.name === name)!;
    return one.run(input, { ...platform, ...call } as never) as Promise<{ workflow_id: string }>;
  };
  const trace = (operation: string, decisionId: string, since = new Date()): Promise<Trace> =>
    createTraceCall(platform, operations)({ operation, decisionId, since });

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

  it("has provably not begun where there is none, unless Temporal may have forgotten it", async () => {
    const decisionId = newDecision();
    assert.deepEqual(await trace("itsm.test", decisionId), { state: "not_done" });
    const longAgo = new Date(Date.now() - 24 * 60 * 60_000);
    assert.deepEqual(await trace("itsm.test", decisionId, longAgo), {
      state: "unknown",
      look: `for the workflow test-${decisionId.slice(4, 12)}`,
    });
  });

  it("is found by its memo where others may join it, and who joined it can't be told", async () => {
    const [first, second] = [newDecision(), newDecision()];
    const incident = `Nobody hears ${randomBytes(4).toString("hex")}`;
    const { workflow_id } = await start("itsm.loop", { incident }, first);
    assert.equal((await start("itsm.loop", { incident }, second)).workflow_id, workflow_id);
    const found = await eventually(async () => {
      const seen = await trace("itsm.loop", first); // lists lag a moment behind
      return seen.state === "done" ? seen : undefined;
    });
    assert.equal(found.ids.workflow_id, workflow_id);
    const joined = await trace("itsm.loop", second);
    assert.equal(joined.state, "unknown");
    assert.match(joined.look!, /^at the runs of itsmLoop that went on at \S+ or began later$/);
  });

  it("can't be told of by what makes nothing that could be found", async () => {
    assert.deepEqual(await trace("webhooks.register", newDecision()), { state: "unknown" });
  });
});
