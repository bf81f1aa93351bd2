import assert from "node:assert/strict";
import { getHeldCall } from "../../store/approvals/mod.ts";
import { setGovernance } from "../_governance.ts";
import { openPeople, type People } from "../api/_people.ts";
import { type A2aClient, a2aClient, message, skill } from "../mcp/_a2a.ts";
import { createDiskWiper } from "./_disk_wiper.ts";

// deno-lint-ignore no-explicit-any -- the test looks into it
type Json = any;

describe("what agents ask for over A2A and people decide", () => {
  const { operation, runs } = createDiskWiper();
  let people: People;
  let agent: A2aClient;
  let byMcp: (disk: string) => Promise<Json>;
  before(async () => {
    people = await openPeople({ SEALOOP_LIMIT_TOOLS: "10000" }, [operation]);
    const { url, key } = await people.tools();
    agent = a2aClient(url, key);
    byMcp = async (disk) => {
      const params = { name: "wipe_disk", arguments: { disk } };
      const response = await fetch(`${url}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      });
      const text = await response.text();
      return JSON.parse(text.replace(/^[^]*?data: /, "")).result;
    };
  });
  after(() => people?.stop());
  beforeEach(() => {
    runs.length = 0;
  });

  const decide = async (how: "approve" | "deny", { result }: Json) => {
    const id = approvalOf(result);
    const { status, body } = await people.vote(id, how, "ann");
    assert.equal(status, 200, JSON.stringify(body));
  };
  const approvalOf = (task: Json): string => {
    assert.equal(task.status.state, "input-required");
    return task.status.message.parts[1].data.governance.approval_id;
  };
  const wipe = (disk: string, configuration?: object) =>
    agent.ask("message/send", skill("wipe_disk", { disk }, configuration));
  const holding = async <T>(tool: string, work: () => Promise<T>) => {
    await setGovernance(people.store, {
      rules: [{ name: "ask", when: { tools: [tool] }, then: "needs_approval", guardrails: false }],
    });
    try {
      return await work();
    } finally {
      await setGovernance(people.store, {});
    }
  };

  it("is a task that waits for them, and then does exactly what they saw, once", async () => {
    const held = await wipe("sda", { blocking: true });
    assert.match(held.result.status.message.parts[0].text, /Nothing was done yet/);
    assert.equal(held.result.metadata["sealoop/approval_id"], approvalOf(held.result));
    const followed = await agent.follow("tasks/resubscribe", { id: held.result.id });
    assert.equal(runs.length, 0);
    await decide("approve", held);
    const states = (await followed()).map(({ kind, status }: Json) => status?.state ?? kind);
    assert.equal(states[0], "input-required");
    assert.deepEqual(states.slice(-2), ["artifact-update", "completed"]);
    const { result } = await agent.ask("tasks/get", { id: held.result.id });
    assert.deepEqual(result.artifacts[0].parts[0].data, { wiped: "sda", passes: 1 });
    assert.deepEqual(runs, [{ disk: "sda", passes: 1 }]);
    const { receiptId } = (await getHeldCall(people.store.asPlatform(), approvalOf(held.result)))!;
    assert.equal(result.metadata.receipt_id, receiptId);
    await people.sealed(receiptId!);
    const again = await wipe("sda");
    assert.notEqual(approvalOf(again.result), approvalOf(held.result), "it is another call");
  });

  it("asks people once, where the agent sends it again as it has heard no answer", async () => {
    const params = skill("wipe_disk", { disk: "sdr" });
    const held = await agent.ask("message/send", params);
    const again = await agent.ask("message/send", params);
    assert.equal(again.result.id, held.result.id);
    assert.equal(approvalOf(again.result), approvalOf(held.result));
    const said = { message: message("Hello") };
    await holding("invoke_reasoning_pipeline", async () => {
      const [one, other] = [
        await agent.ask("message/send", said),
        await agent.ask("message/send", said),
      ];
      assert.equal(approvalOf(other.result), approvalOf(one.result));
    });
  });

  it("is told to be no new one, where the same call over MCP was approved and has ended", async () => {
    for (const [disk, state] of [["sdm", "done"], ["busy", "failed"]] as const) {
      const { approval_id } = (await byMcp(disk)).structuredContent.governance;
      assert.equal((await people.vote(approval_id, "approve", "ann")).status, 200);
      const { endedAt } = await people.eventually(async () => {
        const act = await getHeldCall(people.store.asPlatform(), approval_id);
        return act?.state === state ? act : undefined;
      });
      const { result, error } = await wipe(disk);
      const metadata = state === "done" ? result.metadata : error.data;
      assert.equal(metadata["sealoop/earlier"], endedAt!.toISOString());
      assert.equal(runs.filter((run) => run.disk === disk).length, 1);
    }
  });

  it("is told to be no new one, where its message is sent again when its task has ended", async () => {
    const params = {
      message: message("INC-000000000000 comes back"),
      configuration: { blocking: true },
    };
    const first = (await agent.ask("message/send", params)).result;
    assert.equal(first.status.state, "completed");
    assert.equal(first.metadata["sealoop/earlier"], undefined);
    const again = (await agent.ask("message/send", params)).result;
    assert.deepEqual([again.id, again.metadata["sealoop/earlier"]], [
      first.id,
      first.status.timestamp,
    ]);
  });

  it("ends a stream where it waits", async () => {
    const events = await agent.stream("message/stream", skill("wipe_disk", { disk: "sdb" }));
    assert.deepEqual(events.map(({ kind, status }) => [kind, status.state]), [
      ["task", "input-required"],
    ]);
  });

  it("is rejected where a person denies it, and takes no more", async () => {
    const held = await wipe("sdc");
    const { id } = held.result;
    const more = await agent.ask("message/send", { message: message("Now!", { taskId: id }) });
    assert.equal(more.error.code, -32004);
    await decide("deny", held);
    const task = await agent.until(id, ["rejected"]);
    assert.match(task.status.message.parts[0].text, /A person has denied it/);
    assert.equal((await agent.ask("tasks/cancel", { id })).error.code, -32002);
    assert.equal(runs.length, 0);
  });

  it("is not done where its asker has canceled it, nor can it be approved any more", async () => {
    const held = await wipe("sdd");
    const { result } = await agent.ask("tasks/cancel", { id: held.result.id });
    assert.equal(result.status.state, "canceled");
    const approval = approvalOf(held.result);
    const { status, body } = await people.call("POST", `/v1/approvals/${approval}/approve`, "ann");
    assert.equal(status, 409);
    assert.match(body.detail, /in vain: APR-\w+ is not run: its caller has canceled the task/);
    const act = (await getHeldCall(people.store.asPlatform(), approval))!;
    assert.deepEqual([act.state, act.error?.name], ["refused", "Cancelled"]);
    assert.equal(runs.length, 0);
    assert.equal(
      (await agent.ask("tasks/get", { id: held.result.id })).result.status.state,
      "canceled",
    );
  });

  it("is failed where it fails once approved", async () => {
    const held = await wipe("busy");
    await decide("approve", held);
    const task = await agent.until(held.result.id, ["failed"]);
    assert.match(task.status.message.parts[0].text, /is mounted/);
    assert.equal(runs.length, 1);
  });

  it("may be text: once approved its own task goes on, with exactly that", async () => {
    const text = "INC-000000000000 comes back again and again";
    const held = await holding(
      "invoke_reasoning_pipeline",
      () => agent.ask("message/send", { message: message(text) }),
    );
    await decide("approve", held);
    const task = await agent.until(held.result.id, ["completed"]);
    const said = task.history.filter(({ role }: Json) => role === "user");
    assert.deepEqual(said.map(({ parts }: Json) => parts[0].text), [text]);
    const denied = await holding(
      "invoke_reasoning_pipeline",
      () => agent.ask("message/send", { message: message(text) }),
    );
    await decide("deny", denied);
    await agent.until(denied.result.id, ["rejected"]);
  });

  it("may be a message in a task that is open: it is said once approved", async () => {
    const { result: { id } } = await agent.ask("message/send", {
      message: message("Hello"),
      configuration: { blocking: true },
    });
    const more = message("It is INC-000000000000 again", { taskId: id });
    const { result: told } = await holding(
      "invoke_reasoning_pipeline",
      () => agent.ask("message/send", { message: more }),
    );
    assert.deepEqual([told.kind, told.taskId], ["message", id]);
    const followed = await agent.follow("tasks/resubscribe", { id });
    const approval = told.parts[0].data.governance.approval_id;
    assert.equal(
      (await people.call("POST", `/v1/approvals/${approval}/approve`, "ann")).status,
      200,
    );
    const states = (await followed()).map(({ status }: Json) => status?.state);
    assert.equal(states.at(-1), "completed");
    const { endedAt } = await people.eventually(async () => {
      const act = await getHeldCall(people.store.asPlatform(), approval);
      return act?.endedAt ? act : undefined;
    });
    const { result: again } = await holding(
      "invoke_reasoning_pipeline",
      () => agent.ask("message/send", { message: more }),
    );
    assert.deepEqual([again.id, again.metadata["sealoop/earlier"]], [id, endedAt!.toISOString()]);
  });

  it("may be a run: once approved it is started, and the task follows it to its end", async () => {
    const call = skill("invoke_reasoning_pipeline", { prompt: "What of INC-000000000000?" });
    const held = await holding("invoke_reasoning_pipeline", () => agent.ask("message/send", call));
    await decide("approve", held);
    const task = await agent.until(held.result.id, ["completed"]);
    const [{ data }] = task.artifacts[0].parts;
    assert.equal(data.outcome, "answered");
    assert.equal(data.steps.length, 7);
    const act = (await getHeldCall(people.store.asPlatform(), approvalOf(held.result)))!;
    assert.equal(JSON.parse(act.output!).workflow_id, data.workflow_id);
  });
});
