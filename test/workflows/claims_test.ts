import assert from "node:assert/strict";
import { claimObjection } from "../../activities/reasoning/claims.ts";
import type { AnswerInput, LookupResult } from "../../domain/mod.ts";
import { reasoningActivities } from "../../activities/reasoning/nodes.ts";
import { evidenceOf } from "../../workflows/_evidence.ts";

describe("a model's sentence", () => {
  const evidence = [
    { n: 1, from: "logs", text: "prod-db-1 wrote 3.5 MB to /var/log/app.log, INC-12-old" },
    { n: 2, from: "metrics", text: "db-2.example answers at 127.0.0.1:5432, v1.2.3." },
  ];
  const objection = (text: string) =>
    claimObjection({ text, evidence: [1, 2] }, { evidence, report: "It is slow", services: [] });

  const parts = ["`db-1`", "5 MB", "3 MB", "/var/log/app", "INC-12", "db-2", "v1.2", "2.3"];
  for (const name of parts) {
    it(`does not hold by evidence in which ${name} is a part of something else`, () => {
      assert.match(objection(`It was ${name} there`)!, /which is no service that was found/);
    });
  }

  const whole = ["`prod-db-1`", "3.5 MB", "app.log", "127.0.0.1", "5432", "v1.2.3", "INC-12-old"];
  for (const name of whole) {
    it(`holds by evidence that has ${name}`, () => {
      assert.equal(objection(`It was ${name} there.`), undefined);
    });
  }
});

it("a model's sentence has the source of the words that it cites, not of longer ones", async () => {
  const seen = (id: string, text: string): LookupResult => ({
    lookup: { tool: "service", arguments: { of: id } },
    says: [text],
    sources: [{ id, kind: "service", title: id }],
    data: {},
  });
  const found: AnswerInput = {
    plan: { kind: "question", lookups: [] },
    retrieved: { classification: null, provider: null, articles: [] },
    results: [seen("longer", "It is down, and was before"), seen("meant", "It is down")],
    objections: { holds: true, objections: [] },
    draft: {
      claims: [{ text: "It is down.", evidence: [1] }],
      evidence: [{ n: 1, from: "service", text: "It is down" }],
    },
  };
  const { answer, citations } = await reasoningActivities({} as never).reasonAnswer(found);
  assert.deepEqual([answer, citations.map(({ id }) => id)], ["It is down. [1]", ["meant"]]);
});

it("a model is given no half of a character, which servers of models refuse", () => {
  const says = ["a", "ab"].map((start) => start + "💥".repeat(200));
  for (const { text } of evidenceOf([{ from: "logs", says }])) {
    assert.ok(text.isWellFormed());
    assert.match(text, /💥…$/);
  }
});
