import assert from "node:assert/strict";
import { setGovernance } from "../_governance.ts";
import { openPeople, type People } from "../api/_people.ts";
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
    const path = `/v1/approvals/${held.body.governance.approval_id}/approve`;
    assert.equal((await people.call("POST", path, "ann", {})).status, 200);
    const answer = await people.eventually(async () => {
      const { status, body } = await ask();
      return status === 200 ? body : undefined;
    });
    assert.equal(answer.content, "No space is left.");
    assert.equal(providers.bodies.length, 1);
    const [use] = await people.store.asPlatform().query(
      "SELECT key_id, outcome FROM model_uses",
    );
    assert.deepEqual(use, { key_id: people.keyId("program"), outcome: "answered" });
    await people.sealed(answer.receipt_id);
  });
});
