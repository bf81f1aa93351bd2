import assert from "node:assert/strict";
import { readPromptWords, reasoningActivities } from "../../activities/reasoning/mod.ts";
import type { AnswerInput, LookupResult } from "../../contract/domain/mod.ts";

describe("composeAnswer()", () => {
  it("cites the source of the cited words, not that of longer ones", async () => {
    const result = (id: string, text: string): LookupResult => ({
      lookup: { tool: "service", arguments: { of: id } },
      says: [text],
      sources: [{ id, kind: "service", title: id }],
      data: {},
    });
    const input: AnswerInput = {
      plan: { kind: "question", lookups: [] },
      retrieved: { classification: null, provider: null, articles: [] },
      results: [result("longer", "It is down, and was before"), result("meant", "It is down")],
      objections: { holds: true, objections: [] },
      draft: {
        claims: [{ text: "It is down.", evidence: [1] }],
        evidence: [{ n: 1, from: "service", text: "It is down" }],
      },
    };
    const store = { asPlatform: () => undefined };
    const { composeAnswer } = reasoningActivities({ store } as never);
    const { answer, citations } = await composeAnswer(input);
    assert.deepEqual([String(answer), citations.map(({ id }) => id)], ["It is down. [1]", [
      "meant",
    ]]);
  });
});

describe("a question", () => {
  const services = ["gateway", "shop"];
  const nothing = { classification: null, provider: null, articles: [] };
  const store = { asPlatform: () => undefined };
  const { planLookups, lookUp } = reasoningActivities({ store } as never);
  const toolsFor = async (prompt: string, known = services) =>
    (await planLookups(readPromptWords(prompt, known), nothing)).lookups.map(({ tool }) => tool);

  it("about what the platform keeps no record of is answered so, and not by the health of a service", async () => {
    for (
      const prompt of [
        "How many orders were lost while the gateway was down?",
        "Did the gateway lose orders?",
        "Which customers are affected by the outage of shop?",
        "Have any payments failed?",
      ]
    ) assert.deepEqual(await toolsFor(prompt), ["beyond"], prompt);
    const { says } = await lookUp({ tool: "beyond", arguments: { of: "orders" } });
    assert.match(says.join(), /keeps no record of orders, so it cannot say/);
  });

  it("that only sounds alike, or a report, is looked up", async () => {
    assert.ok((await toolsFor("The gateway is down and orders are lost")).includes("service"));
    assert.ok((await toolsFor("How many orders failed?", ["orders"])).includes("service"));
    assert.ok((await toolsFor("Which services are down?")).includes("services"));
  });

  it("for a number gets the lookup that has it", async () => {
    assert.ok((await toolsFor("How many incidents were resolved?")).includes("platform"));
  });
});
