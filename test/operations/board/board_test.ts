import assert from "node:assert/strict";
import { needsPeople } from "../../../store/notices/mod.ts";
import { storeAs } from "../../_servers.ts";
import { asSuperuser } from "../../_superuser.ts";
import { startGateway, type TestGateway } from "../../api/_gateway.ts";
import { tellDueTasks } from "../../../store/board/mod.ts";

// deno-lint-ignore no-explicit-any -- bodies of many shapes
type Json = any;

describe("the board of tasks over REST", () => {
  let gateway: TestGateway;
  let key: string;
  let rival: string;
  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_LIMIT_PARTNER: "100000" } });
    key = await gateway.key({ tenant: "acme", principal: "charles" });
    rival = await gateway.key({ tenant: "rival" });
  });
  after(() => gateway.stop());

  const call = (method: string, path: string, body?: object, by = key) =>
    gateway.call(by, method, path, body);
  async function add(fields: object): Promise<Json> {
    const { status, body } = await call("POST", "/v1/tasks", { title: "Replace it", ...fields });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }
  const db = () => asSuperuser({ url: gateway.platform.store.url, tenant: "acme" });
  const openTicket = async () =>
    (await call("POST", "/v1/itsm/tickets", { title: "It jams" })).body.ticket_id;

  it("adds a task and moves it over the board", async () => {
    const task = await add({ assignee: "ada", description: "Floor 3" });
    assert.match(task.task_id, /^TASK-[0-9a-f]{12}$/);
    assert.deepEqual(
      [task.status, task.version, task.created_by, task.agent_id],
      ["todo", 1, "charles", null],
    );
    for (const [n, status] of ["doing", "blocked", "done"].entries()) {
      const moved = await call("PATCH", `/v1/tasks/${task.task_id}`, { status, version: n + 1 });
      assert.deepEqual([moved.body.status, moved.body.version], [status, n + 2]);
      assert.equal(moved.body.description, "Floor 3", "what is left out stays");
    }
    const { body } = await call("GET", "/v1/tasks?status=done&assignee=ada");
    assert.equal(body.total, 1);
    assert.equal(body.tasks[0].task_id, task.task_id);
  });

  it("lists pages, newest first", async () => {
    for (let n = 0; n < 5; n++) await add({ title: `Page ${n}`, assignee: "pager" });
    const titles: string[] = [];
    let before = "";
    for (let page = 0; page < 3; page++) {
      const { body } = await call("GET", `/v1/tasks?assignee=pager&limit=2${before}`);
      assert.equal(body.total, 5);
      titles.push(...body.tasks.map(({ title }: Json) => title));
      before = `&before=${body.tasks.at(-1).task_id}`;
    }
    assert.deepEqual(titles, [4, 3, 2, 1, 0].map((n) => `Page ${n}`));
  });

  it("refuses a change of a version that is not the newest, of 20 at once all but one", async () => {
    const { task_id } = await add({});
    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        (_, n) => call("PATCH", `/v1/tasks/${task_id}`, { title: `Title ${n}`, version: 1 }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 409);
    assert.equal(refused.length, 19);
    assert.equal(refused[0]!.body.version, 2);
    assert.match(refused[0]!.body.detail, /at version 2 by now, and you have read version 1/);
    const unconditional = await call("PATCH", `/v1/tasks/${task_id}`, { title: "Last" });
    assert.equal(unconditional.body.version, 3);
  });

  it("leaves a tombstone of a deleted task", async () => {
    const { task_id } = await add({ assignee: "gone" });
    const stale = await call("DELETE", `/v1/tasks/${task_id}?version=7`);
    assert.equal(stale.status, 409);
    const deleted = await call("DELETE", `/v1/tasks/${task_id}`);
    assert.deepEqual([deleted.status, deleted.body.version], [200, 2]);
    assert.ok(deleted.body.deleted_at);
    assert.equal((await call("GET", "/v1/tasks?assignee=gone")).body.total, 0);
    for (const [method, body] of [["PATCH", { status: "done" }], ["DELETE"]] as const) {
      const { status, body: answer } = await call(method, `/v1/tasks/${task_id}`, body);
      assert.equal(status, 409);
      assert.match(answer.detail, /was deleted at/);
    }
    assert.equal((await db().query("SELECT FROM board_tasks WHERE id = $1", [task_id])).length, 1);
  });

  it("gives a task to a principal or to an agent, and to one at a time", async () => {
    const both = { title: "x", assignee: "ada", agent_id: "triage" };
    const refused = await call("POST", "/v1/tasks", both);
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.body.detail[0].loc, ["body", "agent_id"]);
    const unknown = await call("POST", "/v1/tasks", { title: "x", agent_id: "nobody" });
    assert.match(unknown.body.detail[0].msg, /no such agent; GET \/v1\/agents\/list/);
    const { task_id } = await add({ assignee: "ada" });
    const change = async (fields: object) =>
      (await call("PATCH", `/v1/tasks/${task_id}`, fields)).body;
    const given = await change({ agent_id: "triage" });
    assert.deepEqual([given.assignee, given.agent_id], [null, "triage"]);
    const back = await change({ assignee: "bob" });
    assert.deepEqual([back.assignee, back.agent_id], ["bob", null]);
    const nobodys = await change({ assignee: null });
    assert.deepEqual([nobodys.assignee, nobodys.agent_id], [null, null]);
  });

  it("belongs to a ticket, whose timeline tells of it", async () => {
    const ticket_id = await openTicket();
    const { task_id } = await add({ ticket_id });
    await call("PATCH", `/v1/tasks/${task_id}`, { status: "done" });
    const { body } = await call("GET", `/v1/itsm/tickets/${ticket_id}/timeline`);
    const moves = body.events.map(({ kind, data }: Json) => [kind, data.task_id]).slice(1);
    assert.deepEqual(moves, [["task_added", task_id], ["task_done", task_id]]);
    assert.equal((await call("GET", `/v1/tasks?ticket_id=${ticket_id}`)).body.total, 1);
    const unknown = await call("POST", "/v1/tasks", { title: "x", ticket_id: "INC-000000000000" });
    assert.equal(unknown.status, 404);
  });

  it("keeps tenants apart", async () => {
    const { task_id } = await add({});
    for (const id of [task_id, "TASK-000000000000"]) {
      const change = await call("PATCH", `/v1/tasks/${id}`, { status: "done" }, rival);
      const removal = await call("DELETE", `/v1/tasks/${id}`, undefined, rival);
      assert.deepEqual([change.status, removal.status], [404, 404]);
      assert.equal(change.body.detail, `There is no task ${id}`);
    }
    assert.equal((await call("GET", "/v1/tasks", undefined, rival)).body.total, 0);
    const ticket_id = await openTicket();
    const foreign = await call("POST", "/v1/tasks", { title: "x", ticket_id }, rival);
    assert.equal(foreign.status, 404);
  });

  it("tells the feed of what is due, once for each date, however many workers ask", async () => {
    const past = new Date(Date.now() - 1_000).toISOString();
    const task = await add({ title: "Renew it", assignee: "ada", due_at: past });
    const done = await add({ due_at: past, status: "done" });
    await add({ due_at: new Date(Date.now() + 3_600_000).toISOString() });
    const worker = await storeAs(gateway.platform.store, "worker");
    const tell = async () => {
      const counts = await Promise.all(
        Array.from({ length: 5 }, () => tellDueTasks(worker.asTenant("acme"))),
      );
      return counts.reduce((sum, count) => sum + count);
    };
    assert.deepEqual([await tell(), await tell()], [1, 0]);
    const messages = () =>
      db().query("SELECT subject, refs FROM messages WHERE kind = 'task.due' ORDER BY position");
    assert.deepEqual(await messages(), [
      { subject: "Due: Renew it", refs: { task_id: task.task_id } },
    ]);
    await call("PATCH", `/v1/tasks/${task.task_id}`, { description: "Now" });
    assert.equal(await tell(), 0, "only a new date is told anew");
    const later = new Date(Date.now() - 500).toISOString();
    await call("PATCH", `/v1/tasks/${task.task_id}`, { due_at: later });
    assert.equal(await tell(), 1);
    await call("PATCH", `/v1/tasks/${done.task_id}`, { status: "todo" });
    assert.equal(await tell(), 1, "what was done and is not any more is due");
    const isNeeded = (task_id: string) =>
      needsPeople(worker.asTenant("acme"), { kind: "task.due", refs: { task_id } });
    assert.ok(await isNeeded(task.task_id));
    await call("PATCH", `/v1/tasks/${task.task_id}`, { status: "done" });
    await call("DELETE", `/v1/tasks/${done.task_id}`);
    assert.deepEqual([await isNeeded(task.task_id), await isNeeded(done.task_id)], [false, false]);
  });

  it("seals each change without its words", async () => {
    const { task_id } = await add({ title: "Feed the wombat", assignee: "wombat keeper" });
    await call("PATCH", `/v1/tasks/${task_id}`, { status: "doing", description: "A wombat" });
    await call("DELETE", `/v1/tasks/${task_id}`);
    const rows = await db().query("SELECT payload FROM seal_outbox WHERE payload LIKE $1", [
      `%${task_id}%`,
    ]);
    const receipts = rows.map(({ payload }) => JSON.parse(payload))
      .filter(({ category }) => category.startsWith("task_"))
      .sort((a, b) => a.details.version - b.details.version);
    assert.deepEqual(
      receipts.map(({ category, outcome, details }) => [
        category,
        outcome,
        details.version,
        details.fields,
      ]),
      [
        ["task_created", "todo", 1, ["title", "status", "assignee"]],
        ["task_changed", "doing", 2, ["description", "status"]],
        ["task_deleted", "doing", 3, []],
      ],
    );
    assert.doesNotMatch(JSON.stringify(receipts), /wombat/i);
  });
});
