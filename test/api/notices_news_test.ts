import assert from "node:assert/strict";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { asSuperuser } from "../_superuser.ts";
import { openPeople, type People } from "./_people.ts";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

describe("the feed tells", () => {
  let people: People;
  before(async () => {
    people = await openPeople();
  });
  after(() => people?.stop());

  const feed = async (query: string, who = "ann"): Promise<Json[]> =>
    (await people.call("GET", `/v1/comms?${query}`, who)).body.messages;
  const open = async (who = "program") =>
    (await people.call("POST", "/v1/itsm/tickets", who, {
      title: "The shop is down",
      description: "since noon",
      severity: "high",
    })).body.ticket_id as string;

  it("that an incident was opened and closed, by whom, to its tenant alone", async () => {
    const id = await open();
    const resolution = "Plugged it in";
    await people.call("POST", `/v1/itsm/tickets/${id}/close`, "ann", { resolution });
    const [closed, opened] = await feed(`ticket_id=${id}`);
    assert.deepEqual([opened.kind, opened.from, opened.subject, opened.text], [
      "incident.opened",
      "Program",
      `${id} was opened (high): The shop is down`,
      "since noon",
    ]);
    assert.deepEqual([closed.kind, closed.from, closed.text], [
      "incident.closed",
      "ann",
      resolution,
    ]);
    assert.match(closed.refs.receipt_id, /^[0-9a-f]{16}$/);
    assert.deepEqual(await feed(`ticket_id=${id}`, "rival"), []);
  });

  it("that an approval waits, why, and how it was decided", async () => {
    const ticket_id = await open();
    const { body } = await people.call("POST", "/v1/approvals", "program", {
      ticket_id,
      description: "Restart the shop",
      action: { command: "systemctl restart shop" },
    });
    const id = body.approval_id as string;
    const about = async () =>
      (await feed("limit=50")).filter(({ refs }) => refs.approval_id === id);
    const asked = await people.eventually(async () => (await about())[0]);
    assert.deepEqual([asked.kind, asked.subject], [
      "approval.requested",
      `${id} waits for a person`,
    ]);
    assert.match(
      asked.text,
      /asks for: Restart the shop\nexactly: {"command":"systemctl restart shop"}\nbecause: A program asks before it acts/,
    );
    assert.match(asked.text, new RegExp(`decide: npm run approvals -- show ${id}`));
    await people.vote(id, "approve", "ann", { reason: "It is quiet now" });
    const decided = await people.eventually(async () => {
      const [newest] = await about();
      return newest.kind === "approval.decided" ? newest : undefined;
    });
    assert.deepEqual([decided.from, decided.subject], ["ann", `${id} was approved by ann`]);
    assert.match(decided.text, /^reason: It is quiet now\n/);
  });

  it("that an approval expires soon, once", async () => {
    const { body } = await people.call("POST", "/v1/approvals", "program", {
      description: "Restart the shop",
      action: { command: "systemctl restart shop" },
    });
    const id = body.approval_id as string;
    const due = async () => {
      const run = { taskQueue: TASK_QUEUE.itsm, workflowId: `notices-${Math.random()}`, args: [] };
      await people.loop.client.workflow.execute(WORKFLOW.tellDue, run);
      return (await feed("kind=approval.expiring")).filter(({ refs }) => refs.approval_id === id);
    };
    await people.eventually(async () => (await feed("limit=1"))[0]?.refs.approval_id === id);
    assert.deepEqual(await due(), []);
    await asSuperuser(people.store).execute(
      "UPDATE approvals SET expires_at = now() + interval '30 minutes' WHERE id = $1",
      [id],
    );
    const [message] = await due();
    assert.match(message.subject, new RegExp(`^${id} expires at 20.*Z, and nobody has decided$`));
    assert.equal((await due()).length, 1);
  });
});
