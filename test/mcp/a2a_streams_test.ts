import assert from "node:assert/strict";
import { a2aWorld, BLOCKING, type Json, message, skill } from "./_a2a.ts";

describe("A2A's streams", () => {
  const a2a = a2aWorld();
  const { ask, follow, say, send, stream } = a2a;

  it("send a task's states in order, and mark the last as final", async () => {
    const events = await stream("message/stream", { message: message("billing is down") });
    const states = events.map(({ kind, status, final }) => [kind, status?.state, final]);
    // A state that ended before it could be reported is skipped.
    assert.deepEqual(states.filter(([, state]) => state !== "working"), [
      ["task", "submitted", undefined],
      ["artifact-update", undefined, undefined],
      ["status-update", "completed", true],
    ]);
    if (states.length > 3) assert.deepEqual(states[1], ["status-update", "working", false]);
    const open = await stream("message/stream", { message: message("Hello") });
    assert.equal(open.at(-1).status.state, "input-required");
    assert.equal(open.at(-1).final, true);
  });

  it("can be resubscribed to", async () => {
    const { result: { id } } = await say("Hello", {}, BLOCKING);
    const rest = await follow("tasks/resubscribe", { id });
    await say("billing is down", { taskId: id }, BLOCKING);
    const events = await rest();
    assert.equal(events[0].kind, "task");
    assert.equal(events.at(-1).status.state, "completed");
    assert.equal(events.at(-1).final, true);
  });

  it("send an event with the error, except to clients that accept JSON alone", async () => {
    for (
      const [method, params, code] of [
        ["tasks/resubscribe", { id: "none" }, -32001],
        ["message/stream", { message: message("Hi", { taskId: "none" }) }, -32001],
      ] as const
    ) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 3, method, params });
      for (const accept of ["text/event-stream", "*/*"]) {
        const response = await send(body, { accept });
        assert.equal(response.status, 200);
        assert.match(response.headers.get("content-type")!, /^text\/event-stream/);
        const [, event] = /^data: (.+)\n\n$/.exec(await response.text())!;
        const { id, error } = JSON.parse(event!);
        assert.deepEqual([id, error.code], [3, code]);
        assert.match(error.message, /not found/i);
      }
      const response = await send(body, { accept: "application/json" });
      assert.equal((await response.json() as Json).error.code, code);
    }
    const body = JSON.stringify({ jsonrpc: "2.0", id: 3, method: "message/stream", params: {} });
    assert.equal((await (await send(body)).json() as Json).error.code, -32602);
  });

  it("send errors as JSON in 1.0", async () => {
    const headers = { "a2a-version": "1.0", accept: "text/event-stream" };
    const params = { id: "none" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 3, method: "SubscribeToTask", params });
    assert.equal((await (await send(body, headers)).json() as Json).error.code, -32001);
  });

  it("may not be cached", async () => {
    const params = { message: message("Hello") };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 3, method: "message/stream", params });
    const response = await send(body);
    assert.equal(response.headers.get("cache-control"), "no-cache, no-store");
    await response.text();
  });

  it("report the progress and the result of a long-running skill", async () => {
    const events = await stream("message/stream", skill("itsm_run_test", { scenario: "crash" }));
    const [first, ...changes] = events;
    assert.deepEqual([first.kind, first.status.state], ["task", "submitted"]);
    assert.match(first.metadata.receipt_id, /^[0-9a-f]{16}$/);
    const steps = changes.flatMap(({ status }: Json) => status?.message?.parts[0].text ?? []);
    assert.ok(steps.some((text: string) => /\d\/6 /.test(text)), JSON.stringify(steps));
    const last = events.at(-1);
    assert.deepEqual([last.status.state, last.final], ["completed", true]);
    const { result } = await ask("tasks/get", { id: first.id });
    const { status, result: ended } = result.artifacts[0].parts[0].data;
    assert.deepEqual([status, ended.outcome], ["COMPLETED", "sealed"]);
    assert.ok(await a2a.loop.sealer.sealed(ended.receipt_id));
    assert.equal(result.history[0].parts[0].data.skill, "itsm_run_test");
  });
});
