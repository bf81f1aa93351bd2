import assert from "node:assert/strict";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { addBoardTask } from "../../store/board/mod.ts";

describe("the schedule of what is due", () => {
  let loop: TestLoop;
  before(async () => {
    loop = await openLoop();
  });
  after(() => loop?.stop());

  it("tells the feed of tasks of every tenant, each once", async () => {
    const due_at = new Date(Date.now() - 1_000).toISOString();
    for (const tenant of ["platform", "acme"]) {
      await loop.store.asPlatform().query("SELECT ensure_tenant($1)", [tenant]);
      await addBoardTask(loop.store.asTenant(tenant), "TASK-3e91d07a5b2c", "charles", {
        title: `Of ${tenant}`,
        description: "",
        status: "doing",
        assignee: "ada",
        agent_id: null,
        due_at,
        ticket_id: null,
      });
    }
    for (const workflowId of ["due-1", "due-2"]) {
      await loop.client.workflow.execute(WORKFLOW.tellDue, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId,
        args: [],
      });
    }
    for (const tenant of ["platform", "acme"]) {
      const told = await loop.store.asTenant(tenant).query(
        "SELECT subject, text FROM messages WHERE kind = 'task.due'",
      );
      const text = `TASK-3e91d07a5b2c of ada is doing and was due at ${due_at}`;
      assert.deepEqual(told, [{ subject: `Due: Of ${tenant}`, text }]);
    }
  });
});
