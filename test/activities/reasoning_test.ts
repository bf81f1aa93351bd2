import assert from "node:assert/strict";
import { reasoningActivities } from "../../activities/reasoning/mod.ts";
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
    assert.deepEqual([answer, citations.map(({ id }) => id)], ["It is down. [1]", ["meant"]]);
  });
});
