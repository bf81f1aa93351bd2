/** Sentences of answers, each with a record that says so, and one that says otherwise. */
import type { AnswerInput, LookupResult, Retrieved } from "../../../contract/domain/mod.ts";
import type { Pair } from "../../_sentences.ts";
import { type Platforms, ticketId } from "./_platforms.ts";
import type { Asked } from "./lookups.ts";

const NOTHING: Retrieved = { classification: null, provider: null, articles: [] };
const INTAKE = { kind: "question", services: [], receipts: [], topics: [] } as const;

const answer = (input: Partial<AnswerInput>): Asked => async ({ full }) =>
  String(
    (await full.pipeline.composeAnswer({
      plan: { kind: "question", lookups: [] },
      retrieved: NOTHING,
      results: [],
      objections: { holds: true, objections: [] },
      ...input,
    })).answer,
  );
const result = (tool: string, of: string, says: readonly string[]): LookupResult => ({
  lookup: { tool, arguments: { of } },
  says,
  sources: [],
  data: {},
});
const incident = (confidence: number | null, service?: string): Asked =>
  answer({
    plan: { kind: "incident", lookups: [] },
    retrieved: confidence === null ? NOTHING : {
      classification: {
        category: "dns",
        severity: "high",
        confidence,
        recommended_action: "Ask another resolver.",
      },
      provider: "rules",
      articles: [],
    },
    results: service ? [result("service", service, ["It answers."])] : [],
  });
const verified =
  (results: readonly LookupResult[], tickets: readonly string[] = []): Asked => async ({ full }) =>
    (await full.pipeline.verifyLookups({ ...INTAKE, tickets }, results)).objections.map(String)
      .join("\n");
const question =
  (retrieved: Retrieved, of: (platforms: Platforms) => Platforms["full"]): Asked =>
  async (platforms) => String((await of(platforms).pipeline.composeQuestion(retrieved)).answer);
const classified = {
  ...NOTHING,
  classification: { category: "dns", severity: "high", confidence: 1, recommended_action: "" },
} as Retrieved;
const readTicket = (state: string) =>
  verified([result("ticket", ticketId("a"), [`${ticketId("a")} (high, ${state}): It fails.`])], [
    ticketId("a"),
  ]);

/** Pairs about answers. */
export const ANSWERS: readonly Pair<Asked>[] = [
  [
    "Nothing was found that answers this.",
    answer({}),
    answer({ results: [result("service", "up", ["It answers."])] }),
  ],
  [
    "itsm_run_loop with service … looks at it, and repairs it under governance where a runbook fits.",
    incident(0.9, "up"),
    incident(0.9),
  ],
  [
    "It names no service that is known here; itsm_run_loop with these words opens a ticket for people.",
    incident(0.9),
    incident(0.9, "up"),
  ],
  [
    "The engine is away, so nothing can be said of what kind of fault this is.",
    incident(null),
    incident(0.9),
  ],
  [
    "By its words it may be …, which is too unsure (…) to recommend anything.",
    incident(0.3),
    incident(0.9),
  ],
  ["By its words this is …, … (confidence …, judged by …)…", incident(0.9), incident(0.3)],
  ["Recommended: …", incident(0.9), incident(0.3)],
  [
    "There is no … …",
    verified([result("service", "nobody", [])]),
    verified([result("service", "up", ["It answers."])]),
  ],
  [
    "ticket on",
    verified([result("tickets_of_service", "up", [])]),
    verified([result("service", "up", [])]),
  ],
  [
    "… has moved on to … since it was read.",
    readTicket("open, detected"),
    readTicket("open, ticketed"),
  ],
  [
    "(The engine is away, so only what is named can be looked up.)",
    question(NOTHING, ({ full }) => full),
    question(classified, ({ full }) => full),
  ],
  [
    "such as …",
    question(NOTHING, ({ full }) => full),
    question(NOTHING, ({ empty }) => empty),
  ],
];
