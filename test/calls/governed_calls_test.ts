import assert from "node:assert/strict";
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { addStop, removeStop, type Stop } from "../../store/calls/mod.ts";
import { vote } from "../workflows/_people.ts";
import { openAgent, type TestAgent } from "./_agent.ts";
import { createDiskWiper } from "./_disk_wiper.ts";
import type { Json } from "./_platform.ts";
import { asSuperuser } from "../_superuser.ts";

describe("a call that changes something", () => {
  const { operation, runs } = createDiskWiper();
  let agent: TestAgent;
  before(async () => {
    agent = await openAgent([operation]);
  });
  after(() => agent?.people.stop());
  beforeEach(() => {
    runs.length = 0;
  });

  const call = (tool: string, input?: Json, meta?: Json) => agent.call(tool, input, meta);
  const callGoverned = (tool: string, input: Json, meta?: Json) =>
    agent.callGoverned(tool, input, meta);
  async function whileStopped<T>(stop: Omit<Stop, "reason">, work: () => Promise<T>): Promise<T> {
    const db = agent.people.store.asPlatform();
    await addStop(db, { ...stop, reason: "we look into it" });
    try {
      return await work();
    } finally {
      await removeStop(db, stop);
    }
  }

  it("in a dry run is decided, and sealed as that, and does not run", async () => {
    const { _meta, structuredContent } = await call("wipe_disk", { disk: "sde" }, {
      "sealoop/dry_run": true,
    });
    const { decision, dry_run, approval_id } = (structuredContent as Json).governance;
    assert.deepEqual([decision, dry_run, approval_id], ["needs_approval", true, null]);
    const { outcome, details } = await agent.getReceipt(String(_meta?.receipt_id));
    assert.deepEqual([outcome, details.dry_run], ["dry_run", true]);
    assert.equal(runs.length, 0);
  });

  for (
    const [meta, error] of [
      [{ "sealoop/dry_run": "true" }, /sealoop\/dry_run has to be true or false, without quotes/],
      [{ "sealoop/dry_run": 1 }, /has to be true or false/],
      [{ "sealoop/dryrun": true }, /has no sealoop\/dryrun; did you mean sealoop\/dry_run\?/],
      [{ "sealoop/other": true }, /has no sealoop\/other\. Nothing was done/],
      [{ dry_run: true }, /has no dry_run; did you mean sealoop\/dry_run\?/],
    ] as const
  ) {
    it(`is refused with a misspelt request for a dry run: ${JSON.stringify(meta)}`, async () => {
      await assert.rejects(call("wipe_disk", { disk: "sdf" }, meta), error);
      assert.equal(runs.length, 0);
    });
  }

  const all: Omit<Stop, "reason"> = { kind: "all", name: "" };
  const tool: Omit<Stop, "reason"> = { kind: "tool", name: "wipe_disk" };
  for (const stop of [all, tool]) {
    it(`is refused while ${stop.name || "everything"} is stopped, and reads are not`, async () => {
      await whileStopped(stop, async () => {
        const { _meta, content } = await call("wipe_disk", { disk: "sdf" });
        assert.deepEqual(
          ["error", "decision", "rule"].map((name) => _meta?.[`sealoop/${name}`]),
          ["Denied", "deny", "stopped"],
        );
        assert.match(String(_meta?.["sealoop/decision_id"]), /^GOV-[0-9a-f]{12}$/);
        assert.match(JSON.stringify(content), /is stopped: we look into it/);
        assert.ok(!(await call("ledger.search_receipts")).isError);
      });
      assert.equal(runs.length, 0);
    });
  }

  it("does not run if it is stopped between its approval and its run", async () => {
    const { people } = agent;
    const { approval_id } = await callGoverned("wipe_disk", { disk: "sdg" });
    const act = await whileStopped(all, async () => {
      await vote(people.loop, approval_id, "approved", { id: people.keyId("ann") });
      return await agent.waitForEnd(approval_id);
    });
    assert.equal(act.state, "refused");
    assert.equal(runs.length, 0);
  });

  it("cannot be approved while it is stopped, and waits until calls are resumed", async () => {
    const { approval_id } = await callGoverned("wipe_disk", { disk: "sdj" });
    for (
      const [stop, problem, command] of [
        [all, "everything that changes something is stopped", "resume all"],
        [tool, "tool wipe_disk is stopped", "resume tool wipe_disk"],
      ] as const
    ) {
      const { status, body } = await whileStopped(stop, () => approve(approval_id));
      assert.equal(status, 409);
      assert.equal(
        body.detail,
        `Cannot approve ${approval_id} now, as it would be in vain: ${problem} (we look into it). ` +
          `It stays pending, and can be decided after npm run governance -- ${command}`,
      );
    }
    assert.equal((await agent.getApproval(approval_id)).status, "pending");
    assert.equal((await approve(approval_id)).body.status, "approved");
    assert.equal((await agent.waitForEnd(approval_id)).state, "done");
  });

  it("cannot be approved once the key that asked is not valid any more", async () => {
    const { approval_id } = await callGoverned("wipe_disk", { disk: "sdk" });
    await asSuperuser(agent.people.store).execute(
      "UPDATE held_calls SET key_id = repeat('0', 16) WHERE approval_id = $1",
      [approval_id],
    );
    const { status, body } = await approve(approval_id);
    assert.equal(status, 409);
    assert.match(body.detail, /in vain: the key that asked was revoked or has expired/);
    assert.equal((await agent.getApproval(approval_id)).status, "pending");
  });

  it("does not run with other arguments than the approved ones", async () => {
    const { approval_id } = await callGoverned("wipe_disk", { disk: "sdh" });
    await asSuperuser(agent.people.store).execute(
      "UPDATE held_calls SET input = $2 WHERE approval_id = $1",
      [approval_id, '{"disk":"all"}'],
    );
    await agent.decide(approval_id, "approve");
    const act = await agent.waitForEnd(approval_id);
    assert.deepEqual([act.state, act.error.name], ["refused", "Denied"]);
    assert.equal(runs.length, 0);
    assert.equal((await agent.getReceipt(act.receipt_id)).outcome, "refused");
  });

  it("may teach the platform, once a person has approved the lesson", async () => {
    const { people } = agent;
    const title = "Label printer of the warehouse prints blank labels";
    const ticket = (await call("itsm_create_ticket", { title })).structuredContent as Json;
    const path = `/v1/itsm/tickets/${ticket.ticket_id}/close`;
    const resolution =
      "Turned the \u202eribbon of the label printer around and cleaned its print head";
    const { receipt_id } = (await people.call("POST", path, "ann", { resolution })).body;
    await people.eventually(() =>
      people.store.asPlatform().first("SELECT 1 FROM learning_items WHERE ticket_id = $1", [
        ticket.ticket_id,
      ])
    );
    const { items } = (await call("get_learning_queue")).structuredContent as Json;
    const { item_id, score } = items.find((item: Json) => item.ticket_id === ticket.ticket_id);
    assert.ok(score >= 50 && score <= 85, `${score}`);
    const isKnown = async () => {
      const report = { description: title, source: "test" };
      const { rag_context } = await people.platform.engine.classify(report, PLATFORM_TENANT);
      return rag_context.passages.some(({ id }) => id === ticket.ticket_id);
    };

    const { approval_id, rule } = await callGoverned("approve_learning_item", { item_id });
    assert.equal(rule, "acts-on-the-outside");
    const { description } = await agent.getApproval(approval_id);
    assert.ok(description.includes("Resolution: Turned the ⟨U+202E⟩ribbon"), description);
    assert.match(description, /It scored \d+ \(closed_by_a_person 25, /);
    assert.ok(!await isKnown());
    await agent.decide(approval_id, "approve");
    const { state, output } = await agent.waitForEnd(approval_id);
    assert.deepEqual([state, output.state, output.learned_from], ["done", "applied", [receipt_id]]);
    assert.ok(await isKnown(), "diagnoses may use it now");

    const lesson = await agent.getReceipt(output.receipt_id);
    assert.deepEqual([lesson.category, lesson.subject, lesson.learned_from], [
      "learning_receipt",
      ticket.ticket_id,
      [receipt_id],
    ]);
    const source = await agent.getReceipt(receipt_id);
    assert.deepEqual([source.category, source.subject], ["ticket_closed", ticket.ticket_id]);
    const collected = await call("approve_learning_item", { item_id });
    assert.deepEqual(collected.structuredContent, output);
  });

  it("is on record with the reasons of its decision, for its own tenant", async () => {
    const { people } = agent;
    const path = "/v1/governance/decisions?limit=200";
    const { decisions } = (await people.call("GET", path, "program")).body;
    const kinds = new Set(decisions.map(({ decision }: Json) => decision));
    assert.deepEqual([...kinds].sort(), ["allow", "deny", "needs_approval"]);
    const denied = decisions.find(({ rule }: Json) => rule === "stopped");
    assert.match(denied.reasons[0], /is stopped/);
    const { category, outcome } = await agent.getReceipt(denied.receipt_id);
    assert.deepEqual([category, outcome], ["governance_decision", "deny"]);
    assert.equal((await people.call("GET", path)).status, 401);
    assert.deepEqual((await people.call("GET", path, "rival")).body.decisions, []);
  });

  async function approve(approvalId: string) {
    return await agent.people.vote(approvalId, "approve", "ann");
  }
});
