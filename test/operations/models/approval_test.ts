import assert from "node:assert/strict";
import { setGovernance } from "../../_governance.ts";
import { openPeople, type People } from "../../api/_people.ts";
import { answerText, PROMPT, serveProviders, type TestProviders } from "./_models.ts";

describe("a model call that a person has to allow", () => {
  let people: People;
  let providers: TestProviders;
  before(async () => {
    providers = await serveProviders();
    providers.respond((request) => answerText(request, ["No space is left."]));
    people = await openPeople(providers.settings);
    await setGovernance(people.store, {
      rules: [{ name: "ask", when: { tools: ["ai.*"] }, then: "needs_approval" }],
    });
  });
  after(() => people?.stop());

  it("is answered as a whole once it is allowed, and billed to the key that asked", async () => {
    const ask = () =>
      people.call("POST", "/v1/ai/anthropic", "program", { messages: PROMPT, stream: true });
    const held = await ask();
    assert.equal(held.status, 202, JSON.stringify(held.body));
    assert.equal(providers.bodies.length, 0);
    const { approval_id } = held.body.governance;
    assert.equal((await people.vote(approval_id, "approve", "ann")).status, 200);
    await people.eventually(async () =>
      (await people.call("GET", `/v1/approvals/${approval_id}/info`, "ann")).body.act.ended_at ??
        undefined
    );
    const { status, body: answer } = await ask();
    assert.equal(status, 200, JSON.stringify(answer));
    assert.equal(answer.content, "No space is left.");
    assert.equal(providers.bodies.length, 1);
    const [use] = await people.store.asPlatform().query(
      "SELECT key_id, outcome FROM model_uses",
    );
    assert.deepEqual(use, { key_id: people.keyId("program"), outcome: "answered" });
    await people.sealed(answer.receipt_id);
  });
});
