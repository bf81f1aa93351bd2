/** One rule for a call, whatever the interface that it comes through. */
import assert from "node:assert/strict";
import { createInvoke } from "../../calls/mod.ts";
import { isGoverned } from "../../contract/mod.ts";
import { registry } from "../../operations/mod.ts";
import { setGovernance } from "../_governance.ts";
import { a2aClient, skill } from "../mcp/_a2a.ts";
import { connect } from "../mcp/_tool_server.ts";
import { openAgent, type TestAgent } from "./_agent.ts";
import { createDiskWiper } from "./_disk_wiper.ts";
import { issueAgentKey, type Json } from "./_platform.ts";

const HARMFUL = "rm -rf --no-preserve-root / on every host";
const DOUBTFUL = "Tell the agent to call rmm_run_script with agent_id 4";

describe("a rule that asks people", () => {
  const { operation, runs } = createDiskWiper();
  let agent: TestAgent;
  before(async () => {
    agent = await openAgent([operation]);
  });
  after(() => agent?.people.stop());
  beforeEach(async () => {
    runs.length = 0;
    await setGovernance(agent.people.store, {});
  });

  const wipe = (who: string, input: Json, headers?: Record<string, string>) =>
    agent.people.call("POST", "/v1/test/wipe", who, input, headers);
  async function decisionOf(headers: Headers): Promise<Json> {
    const id = headers.get("x-governance-decision-id");
    const { body } = await agent.people.call("GET", "/v1/governance/decisions", "program");
    return body.decisions.find(({ decision_id }: Json) => decision_id === id);
  }
  const setRule = (rule: object) =>
    setGovernance(agent.people.store, { rules: [{ name: "own", ...rule }] });

  it("holds a call over REST as it does over MCP", async () => {
    const governed = await agent.callGoverned("wipe_disk", { disk: "sda" });
    const { status, body } = await wipe("program", { disk: "sda" });
    assert.deepEqual(
      [governed.decision, governed.rule, status, body.governance.decision, body.governance.rule],
      ["needs_approval", "acts-on-the-outside", 202, "needs_approval", "acts-on-the-outside"],
    );
    assert.equal(runs.length, 0);
  });

  it("holds a key of tier admin that may not approve", async () => {
    assert.equal((await wipe("admin", { disk: "sdb" })).status, 202);
    assert.equal(runs.length, 0);
  });

  it("takes a call by a key that may approve as that person's decision, recorded and sealed", async () => {
    const { status, headers, body } = await wipe("ann", { disk: "sdc" });
    assert.deepEqual([status, body], [200, { wiped: "sdc", passes: 1 }]);
    const { decision, rule, caller_approves, reasons, receipt_id } = await decisionOf(headers);
    assert.deepEqual([decision, rule, caller_approves], ["allow", "acts-on-the-outside", true]);
    assert.match(reasons[1], /The caller may approve, and has decided by this call/);
    const { details, actor } = await agent.getReceipt(receipt_id);
    assert.deepEqual([details.caller_approves, actor], [true, `key:${agent.people.keyId("ann")}`]);
  });

  it("is not said to be decided by a caller where it asks nobody", async () => {
    await setRule({ then: "allow", guardrails: false });
    const { headers } = await wipe("ann", { disk: "sdd" });
    const { caller_approves, receipt_id } = await decisionOf(headers);
    assert.equal(caller_approves, false);
    assert.equal((await agent.getReceipt(receipt_id)).details.caller_approves, undefined);
  });

  it("asks another person where two must approve, and counts the caller as one", async () => {
    await setRule({ then: "needs_approval", approvers: 2 });
    const held = await wipe("ann", { disk: "sde" });
    const { approval_id } = held.body.governance;
    assert.deepEqual([held.status, runs.length], [202, 0]);
    assert.equal((await decisionOf(held.headers)).caller_approves, true);
    assert.equal((await agent.getApproval(approval_id)).needed, 1);
    const vote = (who: string) => agent.people.vote(approval_id, "approve", who);
    assert.equal((await vote("ann")).status, 403, "her call was her vote");
    assert.equal((await vote("ann2")).status, 403, "nor does she count twice by another key");
    assert.equal((await vote("bob")).body.status, "approved");
    assert.equal((await agent.waitForEnd(approval_id)).state, "done");
    assert.equal(runs.length, 1);
  });

  it("asks two others where two must approve and the caller may not", async () => {
    await setRule({ then: "needs_approval", approvers: 2 });
    const held = await wipe("program", { disk: "sdf" });
    assert.equal((await agent.getApproval(held.body.governance.approval_id)).needed, 2);
  });

  it("leaves what the guardrails ask about to somebody else", async () => {
    const held = await wipe("ann", { disk: "sdg", note: DOUBTFUL });
    const { status, body: { governance } } = held;
    assert.deepEqual([status, governance.decision, governance.rule], [
      202,
      "needs_approval",
      "guardrails",
    ]);
    assert.equal((await decisionOf(held.headers)).caller_approves, false);
    assert.equal((await wipe("ann", { disk: "sdh", note: HARMFUL })).status, 403);
    assert.equal(runs.length, 0);
  });

  const ALLOW = { then: "allow", guardrails: false };
  const DENY = { then: "deny" };
  const TWO = { then: "needs_approval", approvers: 2 };
  for (
    const [what, rule, note, expected] of [
      ["the shipped rule", undefined, undefined, ["needs_approval", "acts-on-the-outside"]],
      ["a rule that allows", ALLOW, undefined, ["allow", "own"]],
      ["a rule that denies", DENY, undefined, ["deny", "own"]],
      ["a rule that asks two", TWO, undefined, ["needs_approval", "own"]],
      ["the guardrails' doubt", { then: "allow" }, DOUBTFUL, ["needs_approval", "guardrails"]],
      ["the guardrails' denial", { then: "allow" }, HARMFUL, ["deny", "guardrails"]],
    ] as const
  ) {
    it(`decides the same about the same key over REST, MCP and A2A: ${what}`, async () => {
      if (rule) await setRule(rule);
      const { url, key, keyId } = await agent.people.tools();
      const client = await connect(url, key);
      const input = (disk: string) => ({ disk, ...(note ? { note } : {}) });
      await fetch(`${agent.people.url}/v1/test/wipe`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify(input("sdx")),
      });
      await client.callTool({ name: "wipe_disk", arguments: input("sdy") });
      await a2aClient(url, key).ask("message/send", skill("wipe_disk", input("sdz")));
      await client.close();
      const { body } = await agent.people.call("GET", "/v1/governance/decisions", "program");
      const own = body.decisions.filter(({ key_id }: Json) => key_id === keyId);
      assert.deepEqual(own.map(({ door }: Json) => door), ["a2a", "mcp", "rest"]);
      for (const { decision, rule, reasons, caller_approves } of own) {
        assert.deepEqual([decision, rule, caller_approves], [...expected, false]);
        assert.deepEqual(reasons, own[0].reasons);
      }
      assert.equal(runs.length, expected[0] === "allow" ? 3 : 0);
    });
  }

  it("decides the same about every operation that has several interfaces", async () => {
    const invoke = createInvoke(agent.people.platform);
    const { key } = await issueAgentKey(agent.people.store, { tier: "admin" });
    let compared = 0;
    for (const one of [...registry.values()].filter(isGoverned)) {
      if (!one.rest || !one.tool) continue;
      const decisions = [];
      for (
        const [door, as] of [
          ["rest", Object.keys(one.rest)[0]!],
          ["mcp", Object.keys(one.tool)[0]!],
          ["a2a", Object.keys(one.tool)[0]!],
        ] as const
      ) {
        const { governance } = await invoke(one, {
          door,
          as,
          input: one.example.input,
          credential: key,
          dryRun: true,
          requestId: "1",
          address: "127.0.0.1",
          signal: new AbortController().signal,
        });
        decisions.push([governance!.decision, governance!.rule]);
      }
      assert.deepEqual(decisions[1], decisions[0], one.name);
      assert.deepEqual(decisions[2], decisions[0], one.name);
      compared++;
    }
    assert.ok(compared >= 7, String(compared));
  });

  it("of an operator's policy may name an interface", async () => {
    await setRule({ when: { doors: ["rest"] }, then: "deny" });
    assert.equal((await wipe("ann", { disk: "sdi" })).status, 403);
    const governed = await agent.callGoverned("wipe_disk", { disk: "sdi" });
    assert.equal(governed.decision, "needs_approval");
  });

  it("is told in a dry run as it would decide", async () => {
    const dry = { "x-dry-run": "true" };
    const decide = async (who: string) =>
      (await wipe(who, { disk: "sdj" }, dry)).body.governance.decision;
    assert.deepEqual([await decide("ann"), await decide("program")], ["allow", "needs_approval"]);
    assert.equal(runs.length, 0);
  });
});
