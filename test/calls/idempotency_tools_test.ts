/** Calls with an idempotency key, over MCP, and those that wait for people. */
import assert from "node:assert/strict";
import { setGovernance } from "../_governance.ts";
import { governanceOf } from "./_agent.ts";
import { idempotentCaller } from "./_idempotent_caller.ts";

describe("a call with an idempotency key", () => {
  const caller = idempotentCaller();
  const { wiper, flaky, newKey, post, callTool, errorOf } = caller;

  describe("over MCP", () => {
    it("gives the first answer again, and does nothing more", async () => {
      const key = newKey();
      const first = await callTool("itsm_create_ticket", { title: "Disk fills" }, key);
      const again = await callTool("itsm_create_ticket", { title: "Disk fills" }, key);
      assert.ok(!first.isError, JSON.stringify(first));
      assert.deepEqual([again.content, again.structuredContent], [
        first.content,
        first.structuredContent,
      ]);
      assert.match(String(again._meta?.["sealoop/earlier"]), /^\d{4}-\d\d-\d\dT/);
      assert.equal(
        (await caller.agent.getReceipt(String(again._meta?.receipt_id))).outcome,
        "repeated",
      );
    });

    it("is refused with other input", async () => {
      const key = newKey();
      await callTool("itsm_create_ticket", { title: "One" }, key);
      const result = await callTool("itsm_create_ticket", { title: "Two" }, key);
      assert.equal(errorOf(result), "IdempotencyKeyReused");
      assert.match(JSON.stringify(result.content), /Use a new idempotency key/);
    });

    it("gives an error of the caller's again, and runs again after one of the service", async () => {
      const [conflict, away] = [newKey(), newKey()];
      const first = await callTool("fail_once", { error: "Conflict" }, conflict);
      const again = await callTool("fail_once", { error: "Conflict" }, conflict);
      assert.deepEqual([again.content, again.isError], [first.content, true]);
      assert.ok(again._meta?.["sealoop/earlier"]);
      flaky.runs.count = 0;
      const input = { error: "Unavailable" };
      assert.equal(errorOf(await callTool("fail_once", input, away)), "Unavailable");
      assert.ok(!(await callTool("fail_once", input, away)).isError);
    });

    for (
      const [meta, message] of [
        [{ "sealoop/idempotency-key": "a" }, /did you mean sealoop\/idempotency_key\?/],
        [{ idempotencyKey: "a" }, /did you mean sealoop\/idempotency_key\?/],
        [{ "sealoop/idempotency_key": 7 }, /has to have 1 to 255 visible ASCII characters/],
      ] as const
    ) {
      it(`is refused where its key is misspelt: ${JSON.stringify(meta)}`, async () => {
        await assert.rejects(caller.agent.call("fail_once", { error: "none" }, meta), message);
        assert.equal(flaky.runs.count, 0);
      });
    }
  });

  describe("that waits for people", () => {
    it("tells how its approval stands, and its result once", async () => {
      const key = newKey();
      const wipe = () => callTool("wipe_disk", { disk: "sda" }, key);
      const held = await wipe();
      const { approval_id } = governanceOf(held);
      const pending = await wipe();
      assert.deepEqual(pending.structuredContent, held.structuredContent, "nothing has changed");
      await caller.agent.decide(approval_id, "approve");
      await caller.agent.waitForEnd(approval_id);
      const result = await wipe();
      assert.deepEqual(result.structuredContent, { wiped: "sda", passes: 1 });
      assert.ok(result._meta?.["sealoop/earlier"]);
      const collected = governanceOf(await wipe());
      assert.deepEqual([collected.approval_id, collected.status], [approval_id, "approved"]);
      assert.match(collected.next, /was run, once, and you were given its result/);
      assert.equal(wiper.runs.length, 1);
      const next = governanceOf(await callTool("wipe_disk", { disk: "sda" }, newKey()));
      assert.notEqual(next.approval_id, approval_id, "another key is another call");
    });

    it("answers 202 over REST until it has run", async () => {
      const key = newKey();
      const wipe = () => post("program", "/v1/test/wipe", { disk: "sdb" }, key);
      const held = await wipe();
      const pending = await wipe();
      assert.deepEqual([pending.status, pending.text], [202, held.text]);
      const { approval_id } = held.body.governance;
      await caller.agent.decide(approval_id, "approve");
      await caller.agent.waitForEnd(approval_id);
      const result = await wipe();
      assert.deepEqual([result.status, result.body], [200, { wiped: "sdb", passes: 1 }]);
      assert.equal((await wipe()).status, 202);
      assert.equal(wiper.runs.length, 1);
    });

    it("stays denied, and runs if its approval is reopened and approved", async () => {
      const key = newKey();
      const wipe = () => callTool("wipe_disk", { disk: "sdc" }, key);
      const { approval_id } = governanceOf(await wipe());
      await caller.agent.decide(approval_id, "deny");
      for (let n = 0; n < 2; n++) assert.match(JSON.stringify(await wipe()), /has denied it/);
      await caller.agent.decide(approval_id, "reopen", "approve");
      await caller.agent.waitForEnd(approval_id);
      assert.equal(governanceOf(await wipe()).approval_id, approval_id);
      assert.equal(wiper.runs.length, 1);
    });

    it("stays with its approval when the rules no longer ask", async () => {
      const key = newKey();
      const wipe = () => callTool("wipe_disk", { disk: "sdd" }, key);
      const { approval_id } = governanceOf(await wipe());
      await setGovernance(caller.agent.people.store, {
        rules: [{ name: "own", when: { tools: ["wipe_disk"] }, then: "allow" }],
      });
      const pending = governanceOf(await wipe());
      await setGovernance(caller.agent.people.store, {});
      assert.deepEqual([pending.approval_id, wiper.runs.length], [approval_id, 0]);
    });
  });
});
