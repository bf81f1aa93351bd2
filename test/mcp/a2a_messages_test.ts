import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { operations } from "../../operations/mod.ts";
import { eventually } from "../_time.ts";
import { a2aClient, a2aWorld, BLOCKING, type Json, message, skill } from "./_a2a.ts";
import { startToolServer } from "./_tool_server.ts";
import { asSuperuser } from "../_superuser.ts";

describe("an A2A message that is sent again", () => {
  const a2a = a2aWorld();
  const { ask, say, stream } = a2a;

  const idOf = async (params: unknown, as?: string): Promise<string> => {
    const { result, error } = await ask("message/send", params, as);
    assert.equal(error, undefined);
    return result.id;
  };

  it("returns the task that it has opened, also when waiting or streaming", async () => {
    const params = { message: message("Hello") };
    const { result } = await ask("message/send", params);
    const again = await ask("message/send", { ...params, configuration: BLOCKING });
    assert.equal(again.result.id, result.id);
    assert.equal(again.result.status.state, "input-required");
    assert.notEqual(again.result.metadata.receipt_id, result.metadata.receipt_id);
    const [task] = await stream("message/stream", params);
    assert.equal(task.id, result.id);
    const said = task.history.filter(({ role }: Json) => role === "user");
    assert.deepEqual(said.map(({ messageId }: Json) => messageId), [params.message.messageId]);
  });

  it("opens one task when it is sent many times at once", async () => {
    for (const params of [{ message: message("Hello") }, skill("itsm_run_test")]) {
      const ids = await Promise.all(Array.from({ length: 5 }, () => idOf(params)));
      assert.equal(new Set(ids).size, 1);
      await ask("tasks/cancel", { id: ids[0] });
    }
  });

  it("opens one task when several servers receive it at once", async () => {
    const settings = { SEALOOP_LIMIT_TOOLS: "10000" };
    const other = await startToolServer({
      on: a2a.loop.database,
      temporal: a2a.loop.client,
      settings,
    });
    const params = { message: message("Hello") };
    const answers = await Promise.all(
      [a2a.server.url, other.url, a2a.server.url, other.url]
        .map((url) => a2aClient(url, a2a.key).ask("message/send", params)),
    );
    await other.stop();
    const ids = new Set(answers.map(({ result }) => result.id));
    assert.equal(ids.size, 1);
    const [id] = ids;
    const { result } = await ask("tasks/get", { id });
    assert.ok(["submitted", "working", "input-required"].includes(result.status.state));
  });

  it("calls a skill that starts a run only once", async () => {
    const params = skill("itsm_run_test");
    const [one, other] = [await ask("message/send", params), await ask("message/send", params)];
    const runOf = ({ result }: Json) => result.metadata["sealoop/workflow_id"];
    assert.deepEqual([other.result.id, runOf(other)], [one.result.id, runOf(one)]);
    assert.equal(other.result.metadata.receipt_id, one.result.metadata.receipt_id);
    await ask("tasks/cancel", { id: one.result.id });
  });

  it("calls a skill only once where two messages have one idempotency key", async () => {
    const send = async (title: string) => {
      const { message: sent } = skill("itsm_create_ticket", { title });
      const metadata = { "sealoop/idempotency_key": "one ticket" };
      return await ask("message/send", { message: { ...sent, metadata } });
    };
    const [one, other] = [await send("Printer jams"), await send("Printer jams")];
    assert.deepEqual(other.result.parts, one.result.parts);
    assert.match(other.result.metadata["sealoop/earlier"], /^\d{4}-\d\d-\d\dT/);
    const { error } = await send("Another one");
    assert.match(error.message, /belongs to another call of tickets\.create/);
  });

  it("is known after a restart, and when its task has ended", async () => {
    const params = { message: message("billing is down"), configuration: BLOCKING };
    const { result } = await ask("message/send", params);
    assert.equal(result.status.state, "completed");
    const { database: on } = a2a.loop;
    const settings = { SEALOOP_LIMIT_TOOLS: "10000" };
    const restarted = await startToolServer({ on, temporal: a2a.loop.client, settings });
    const again = await a2aClient(restarted.url, a2a.key).ask("message/send", params);
    await restarted.stop();
    assert.deepEqual([again.result.id, again.result.artifacts], [result.id, result.artifacts]);
  });

  it("differs from a message of another key, in another context, or with other words", async () => {
    const said = message("Hello");
    const own = await idOf({ message: said });
    const others = [
      await idOf({ message: said }, (await a2a.server.key()).key),
      await idOf({ message: { ...said, contextId: randomUUID() } }),
      await idOf({ message: { ...said, parts: [{ kind: "text", text: "Hello?" }] } }),
    ];
    assert.equal(new Set([own, ...others]).size, 4);
  });

  it("opens another task after the first was cancelled", async () => {
    const params = { message: message("Hello") };
    const id = await idOf(params);
    await ask("tasks/cancel", { id });
    const next = await idOf(params);
    assert.notEqual(next, id);
    assert.equal(await idOf(params), next);
  });

  it("is handled once at the gateway, too", async () => {
    const parts = [{ kind: "text", text: "Is the gateway down?" }];
    const input = { messageId: randomUUID(), parts };
    const context = { ...a2a.server.platform, caller: { keyId: "a2a-token" } };
    for (const name of ["a2a.receive", "a2a.dispatch"]) {
      const operation = operations.find((one) => one.name === name)!;
      const run = () => operation.run(input as never, context as never);
      const [one, other] = [await run() as Json, await run() as Json];
      assert.deepEqual([other.workflow_id, other.task_id], [one.workflow_id, one.task_id], name);
    }
  });

  it("opens another task a day after the first has ended", async () => {
    const params = { message: message("billing is down"), configuration: BLOCKING };
    const id = await idOf(params);
    await asSuperuser(a2a.loop.store).execute(
      "UPDATE a2a_tasks SET record = record::jsonb || $1::jsonb WHERE id = $2",
      [JSON.stringify({ since: new Date(Date.now() - 25 * 3_600_000).toISOString() }), id],
    );
    assert.notEqual(await idOf(params), id);
  });

  it("starts the workflow of its task where the first server died before it could", async () => {
    const params = { message: message("billing is down"), configuration: BLOCKING };
    const { result: { id } } = await ask("message/send", params);
    const { workflow, workflowService: service, options: { namespace } } = a2a.loop.client;
    const handle = workflow.getHandle(`a2a-${id}`);
    await handle.result();
    const workflowExecution = { workflowId: handle.workflowId };
    await service.deleteWorkflowExecution({ namespace, workflowExecution });
    await eventually(() => handle.describe().then(() => undefined, () => true));
    const first = { state: "submitted", version: 0, artifacts: [] };
    await asSuperuser(a2a.loop.store).execute(
      "UPDATE a2a_tasks SET state = 'submitted', version = 0, record = record::jsonb || $1::jsonb WHERE id = $2",
      [JSON.stringify(first), id],
    );
    const { result } = await ask("message/send", params);
    assert.deepEqual([result.id, result.status.state], [id, "completed"]);
  });

  it("changes nothing in its open task, and is refused with other words under its id", async () => {
    const { result: { id } } = await say("Hello", {}, BLOCKING);
    const more = message("What is up?", { taskId: id });
    const params = { message: more, configuration: BLOCKING };
    const { result } = await ask("message/send", params);
    const again = await ask("message/send", params);
    assert.deepEqual(again.result.history, result.history);
    const parts = [{ kind: "text", text: "What is down?" }];
    const { error } = await ask("message/send", { message: { ...more, parts } });
    assert.equal(error.code, -32602);
    assert.match(error.message, /Task .* has a message .* with other content; use a new id$/);
    await ask("tasks/cancel", { id });
    assert.equal(await idOf(params), id);
  });
});
