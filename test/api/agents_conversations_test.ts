import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Problem } from "../../contract/mod.ts";
import { registry } from "../../operations/mod.ts";
import { addConversation, addQuestion, listConversationMessages } from "../../store/agents/mod.ts";
import { noteCallEffects } from "../../store/calls/mod.ts";
import { openPeople, type People } from "./_people.ts";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

const message = registry.get("agents.message")!;

describe("a conversation with an agent", () => {
  let people: People;
  before(async () => {
    people = await openPeople();
  });
  after(() => people?.stop());

  const db = () => people.store.asPlatform();
  const path = "/v1/agents/change/message";
  const send = async (text: string, conversation_id?: string): Promise<Json> => {
    const { status, body } = await people.eventually(async () => {
      const answer = await people.call("POST", path, "program", { text, conversation_id });
      return answer.status === 503 ? undefined : answer; // a busy worker did not take it in time
    });
    assert.equal(status, 202, JSON.stringify(body));
    return body;
  };
  const countMessages = async (id: string) => (await listConversationMessages(db(), id, 500)).total;
  const until = (id: string, count: number) =>
    people.eventually(async () => await countMessages(id) === count || undefined);
  /** Stores questions that no run knows of. @returns id of the conversation */
  async function storeQuestions(count: number, decisionId?: string): Promise<string> {
    const hex = randomBytes(6).toString("hex");
    const id = `CONV-${hex}`;
    await db().transaction(async (trx) => {
      await addConversation(trx, { id, keyId: people.keyId("program"), agentId: "change" });
      for (let n = 0; n < count; n++) {
        const message_id = `MSG-${hex.slice(0, 10)}${String(n).padStart(2, "0")}`;
        await addQuestion(trx, id, { id: message_id, text: "What is the status of all services?" });
        const ids = { message_id, conversation_id: id };
        if (n === 0) await noteCallEffects(trx, decisionId, ids);
      }
    });
    return id;
  }

  it("goes on under its id in another run, where its run has ended", async () => {
    const first = await send("Which tickets are open?");
    await until(first.conversation_id, 2);
    const handle = people.loop.client.workflow.getHandle(first.workflow_id);
    await handle.terminate("as if nobody had asked for long");
    const second = await send("And which approvals wait?", first.conversation_id);
    assert.equal(second.workflow_id, first.workflow_id);
    assert.notEqual(second.run_id, first.run_id);
    await until(first.conversation_id, 4);
  });

  it("answers what stood open when its run was ended by hand, once somebody asks again", async () => {
    const id = await storeQuestions(2);
    await send("Which tickets are open?", id);
    await until(id, 6);
    const { messages } = await listConversationMessages(db(), id, 10);
    assert.deepEqual(
      messages.reverse().map(({ role }) => role),
      ["user", "user", "user", "agent", "agent", "agent"],
    );
  });

  it("takes a question back that its run can't be told of", async () => {
    const before = (await db().query("SELECT FROM conversation_messages")).length;
    const away = new Problem("Unavailable", "Temporal is away");
    const context = {
      ...people.platform,
      temporal: () => Promise.reject(away),
      caller: { keyId: people.keyId("program") },
    };
    const input = { agent_id: "change", text: "Which tickets are open?" };
    await assert.rejects(message.run(input, context as never), away);
    assert.equal((await db().query("SELECT FROM conversation_messages")).length, before);
    assert.equal(
      (await db().query(
        `SELECT FROM conversations c
       WHERE NOT EXISTS (SELECT FROM conversation_messages WHERE conversation_id = c.id)`,
      )).length,
      0,
    );
  });

  it("is told by recovery of a question whose process was killed before it could tell it", async () => {
    const decisionId = `GOV-${randomBytes(6).toString("hex")}`;
    const id = await storeQuestions(1, decisionId);
    const recover = () =>
      message.durability!.recover!({ decisionId, since: new Date() }, people.platform);
    const found: Json = await recover();
    assert.equal(found.state, "done");
    assert.deepEqual(Object.keys(found.output).sort(), [
      "conversation_id",
      "message_id",
      "run_id",
      "workflow_id",
    ]);
    await until(id, 2);
    assert.deepEqual(await recover(), found);
    assert.equal(await countMessages(id), 2);
    const none = { decisionId: "GOV-000000000000", since: new Date() };
    assert.deepEqual(await message.durability!.recover!(none, people.platform), {
      state: "not_done",
    });
  });

  it("has at most 20 questions that wait", async () => {
    await send("And now?", await storeQuestions(19));
    const id = await storeQuestions(20);
    const { status, body } = await people.call("POST", path, "program", {
      text: "And now?",
      conversation_id: id,
    });
    assert.equal(status, 409);
    assert.match(body.detail, /20 questions wait/);
  });
});
