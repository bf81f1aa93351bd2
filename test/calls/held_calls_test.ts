import assert from "node:assert/strict";
import { z } from "zod";
import type { Platform } from "../../calls/mod.ts";
import { defineOperation, Problem } from "../../contract/mod.ts";
import { endHeldCall, getHeldCall } from "../../store/approvals/mod.ts";
import { governanceOf, openAgent, type TestAgent } from "./_agent.ts";
import { createDiskWiper } from "./_disk_wiper.ts";
import type { Json } from "./_platform.ts";

describe("a call that needs approval", () => {
  const { operation, runs, finishSlow } = createDiskWiper();
  const line = ["first", "second"];
  /** Its input means something else once the line has changed. */
  const takeNext = defineOperation<Platform>()({
    name: "test.take",
    summary: "Take the next",
    group: "test",
    access: "key",
    effect: "run",
    input: z.object({ place: z.number(), name: z.string().optional() }),
    output: z.object({ taken: z.string() }),
    tool: { take_next: ["full"] },
    governance: {
      rule: "acts-on-the-outside",
      resolveStableInput({ place }) {
        const name = line[place];
        if (name === undefined) throw new Problem("NotFound", "There is nobody");
        return Promise.resolve({ input: { place, name }, about: `it is called ${name}` });
      },
    },
    example: { input: { place: 0 }, output: { taken: "first" } },
    run: ({ name }) => Promise.resolve({ taken: name! }),
  });
  let agent: TestAgent;
  before(async () => {
    agent = await openAgent([operation, takeNext]);
  });
  after(() => agent?.people.stop());
  beforeEach(() => {
    runs.length = 0;
  });

  const call = (tool: string, input: Json) => agent.call(tool, input);
  const callGoverned = (tool: string, input: Json) => agent.callGoverned(tool, input);
  const getHeld = async (approvalId: string) =>
    (await getHeldCall(agent.people.store.asPlatform(), approvalId))!;

  it("runs exactly once when people have approved it, with the arguments that they saw", async () => {
    const input = { disk: "sda", passes: 1 };
    const held = await call("wipe_disk", { disk: "sda" });
    assert.ok(!held.isError, JSON.stringify(held));
    const { approval_id, decision_id, ...governance } = governanceOf(held);
    assert.deepEqual([governance.decision, governance.status, governance.rule], [
      "needs_approval",
      "pending",
      "acts-on-the-outside",
    ]);
    assert.deepEqual(governance.arguments, input);
    assert.match(governance.next, /call again with the same arguments/);
    assert.equal(held._meta?.["sealoop/approval_id"], approval_id);
    const same = await callGoverned("wipe_disk", { disk: "sda" });
    assert.equal(same.approval_id, approval_id, "the same call joins the one that waits");
    assert.equal(runs.length, 0);

    assert.deepEqual((await agent.getApproval(approval_id)).action.arguments, input);
    await agent.decide(approval_id, "approve");
    const act = await agent.waitForEnd(approval_id);
    assert.deepEqual([act.state, act.output], ["done", { wiped: "sda", passes: 1 }]);
    assert.deepEqual(runs, [input]);

    const result = await call("wipe_disk", { disk: "sda" });
    assert.deepEqual(result.structuredContent, { wiped: "sda", passes: 1 });
    assert.equal(result._meta?.["sealoop/earlier"], act.ended_at);
    assert.equal(held._meta?.["sealoop/earlier"], undefined);
    assert.equal(runs.length, 1, "the result was collected; nothing ran again");
    const next = await callGoverned("wipe_disk", { disk: "sda" });
    assert.notEqual(next.approval_id, approval_id, "another run needs another approval");

    const sealed = await agent.getReceipt(act.receipt_id);
    assert.deepEqual([sealed.category, sealed.outcome, sealed.details.approval_id], [
      "governed_act",
      "success",
      approval_id,
    ]);
    assert.equal(sealed.details.decision_id, decision_id);
    assert.ok(!JSON.stringify(sealed).includes("sda"), "arguments stay private");
    const heldReceipt = await agent.getReceipt(String(held._meta?.receipt_id));
    assert.deepEqual([heldReceipt.outcome, heldReceipt.details.decision], [
      "held",
      "needs_approval",
    ]);
  });

  it("returns OutcomeUnknown, not a failure, if nobody knows whether it ran", async () => {
    const { approval_id } = await callGoverned("wipe_disk", { disk: "lost" });
    const message = "It was begun, and may have been done: look at the disk";
    const error = { name: "OutcomeUnknown", message };
    const end = { state: "unknown", output: null, error, receiptId: "unknown-end" } as const;
    assert.ok(await endHeldCall(agent.people.store.asPlatform(), approval_id, end));
    const result = await call("wipe_disk", { disk: "lost" });
    assert.equal(result.isError, true);
    assert.equal(
      (result.content as Json)[0].text,
      `${message}\nIt may have been done: check its target before you call again, or ask a person.`,
    );
    assert.equal(result._meta?.["sealoop/error"], "OutcomeUnknown");
    assert.match(String(result._meta?.["sealoop/earlier"]), /^\d{4}-\d\d-\d\dT/);
    assert.equal((await agent.getReceipt(String(result._meta?.receipt_id))).outcome, "unknown");
  });

  it("says while it runs that it is approved and running", async () => {
    const { approval_id } = await callGoverned("wipe_disk", { disk: "slow" });
    await agent.decide(approval_id, "approve");
    await agent.people.eventually(() => Promise.resolve(runs.length > 0 || undefined));
    try {
      const { status, next } = await callGoverned("wipe_disk", { disk: "slow" });
      assert.equal(status, "approved");
      assert.match(next, /is approved, and exactly these arguments are run now/);
      assert.doesNotMatch(next, /Nothing was done|a person decides/);
    } finally {
      finishSlow();
    }
    assert.equal((await agent.waitForEnd(approval_id)).state, "done");
    assert.equal(runs.length, 1);
  });

  it("is refused after a person has denied it", async () => {
    const { approval_id } = await callGoverned("wipe_disk", { disk: "sdb" });
    await agent.decide(approval_id, "deny");
    const refused = await call("wipe_disk", { disk: "sdb" });
    assert.equal(refused.isError, true);
    assert.match(JSON.stringify(refused.content), /a person has denied it/);
    assert.equal(runs.length, 0);
  });

  it("runs when its approval was denied, reopened and then approved", async () => {
    const { approval_id } = await callGoverned("wipe_disk", { disk: "sdc" });
    await agent.decide(approval_id, "deny", "reopen", "approve");
    assert.equal((await agent.waitForEnd(approval_id)).state, "done");
    assert.deepEqual(runs, [{ disk: "sdc", passes: 1 }]);
  });

  it("returns its failure, and does not run again", async () => {
    const { approval_id } = await callGoverned("wipe_disk", { disk: "busy" });
    await agent.decide(approval_id, "approve");
    const act = await agent.waitForEnd(approval_id);
    assert.deepEqual([act.state, act.error.name], ["failed", "Conflict"]);
    const result = await call("wipe_disk", { disk: "busy" });
    assert.equal(result.isError, true);
    assert.match(JSON.stringify(result.content), /is mounted/);
    assert.equal(runs.length, 1);
  });

  it("over REST is answered with 202, and with its result once it has run", async () => {
    const { people } = agent;
    const send = () => people.call("POST", "/v1/test/wipe", "program", { disk: "sdd" });
    const held = await send();
    assert.equal(held.status, 202);
    assert.equal(held.body.governance.rule, "acts-on-the-outside");
    assert.match(String(held.headers.get("x-receipt-id")), /^\w{16}$/);
    assert.equal(runs.length, 0);
    const { approval_id } = held.body.governance;
    await agent.decide(approval_id, "approve");
    const act = await agent.waitForEnd(approval_id);
    const collected = await send();
    assert.deepEqual([collected.status, collected.headers.get("x-earlier")], [200, act.ended_at]);
  });

  it("keeps its meaning from when people were asked, where that can change", async () => {
    const held = await callGoverned("take_next", { place: 0 });
    assert.deepEqual(held.arguments, { place: 0, name: "first" });
    const { action, description, rule, reasons } = await agent.getApproval(held.approval_id);
    assert.deepEqual(action.arguments, { place: 0, name: "first" });
    assert.equal(description, "Take the next: it is called first");
    assert.deepEqual([rule, reasons], [held.rule, held.reasons]);
    assert.equal(held.approval.description, description, "its caller is told as people are");
    line.reverse();
    const same = await callGoverned("take_next", { place: 0 });
    assert.equal(same.approval_id, held.approval_id);
    await agent.decide(held.approval_id, "approve");
    assert.deepEqual((await agent.waitForEnd(held.approval_id)).output, { taken: "first" });
    const collected = await call("take_next", { place: 0 });
    assert.deepEqual(collected.structuredContent, { taken: "first" });
    const next = await callGoverned("take_next", { place: 0 });
    assert.deepEqual([next.arguments.name, next.status], ["second", "pending"]);
    const nothing = await call("take_next", { place: 7 });
    assert.equal(nothing._meta?.["sealoop/error"], "NotFound", "people are not asked about it");
  });

  describe("with a secret in its input and output", () => {
    it("returns the secret once to the caller, and stores it no longer", async () => {
      const disk = "whsec_ABCDEFGHIJKLMNOP";
      const { approval_id } = await callGoverned("wipe_disk", { disk });
      await agent.decide(approval_id, "approve");
      const { output } = await agent.waitForEnd(approval_id);
      assert.deepEqual(output, { wiped: "[secret]", passes: 1 }, "people do not see it");
      const result = await call("wipe_disk", { disk });
      assert.deepEqual(result.structuredContent, { wiped: disk, passes: 1 });
      const held = await getHeld(approval_id);
      assert.deepEqual(JSON.parse(held.output!), { wiped: "[secret]", passes: 1 });
    });

    it("runs with the secret if it is approved after its caller got the denial", async () => {
      const disk = "whsec_QRSTUVWXYZABCDEF";
      const { approval_id } = await callGoverned("wipe_disk", { disk });
      await agent.decide(approval_id, "deny");
      assert.match(JSON.stringify((await call("wipe_disk", { disk })).content), /has denied it/);
      await agent.decide(approval_id, "reopen", "approve");
      const { state, error } = await agent.waitForEnd(approval_id);
      assert.deepEqual([state, error], ["done", null]);
      assert.deepEqual(runs, [{ disk, passes: 1 }]);
      const { input, output } = await getHeld(approval_id);
      assert.ok(!`${input}${output}`.includes(disk), "nobody can collect it any more");
    });

    it("returns the secret on the next attempt if collecting could not be recorded", async () => {
      const disk = "whsec_GHIJKLMNOPQRSTUV";
      const { database } = agent.people.loop;
      const { approval_id } = await callGoverned("wipe_disk", { disk });
      await agent.decide(approval_id, "approve");
      await agent.waitForEnd(approval_id);
      await database.executeAsSuperuser(
        "ALTER TABLE governance_decisions ADD CONSTRAINT none CHECK (false) NOT VALID",
      );
      try {
        assert.equal((await call("wipe_disk", { disk })).isError, true);
      } finally {
        await database.executeAsSuperuser("ALTER TABLE governance_decisions DROP CONSTRAINT none");
      }
      const result = await call("wipe_disk", { disk });
      assert.deepEqual(result.structuredContent, { wiped: disk, passes: 1 });
      assert.equal(runs.length, 1);
    });
  });
});
