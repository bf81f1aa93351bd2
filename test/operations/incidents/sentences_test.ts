import { describeEvents, formatPostmortem } from "../../../operations/incidents/tickets/mod.ts";
import { testSentences } from "../../_sentences.ts";
import { factsOf } from "./sentences/_facts.ts";
import { ACTS, NEXT, RECEIPTS } from "./sentences/acts.ts";
import { CAUSE, LOOKS, SUMMARY } from "./sentences/fault.ts";
import { TIMELINE, toFacts } from "./sentences/timeline.ts";

const FOLDER = "operations/incidents/tickets/";

describe("the sentences of a timeline", () => {
  testSentences({
    sources: [`${FOLDER}_postmortem_timeline.ts`],
    pairs: TIMELINE,
    labels: ["| when | after | event |", "more finding"],
    always: {},
    tell: (told) => describeEvents(toFacts(told)).map(({ text }) => text).join("\n"),
  });
});

describe("the sentences of a postmortem", () => {
  testSentences({
    sources: ["actions", "cause", "facts", "next", "summary"].map((part) =>
      `${FOLDER}_postmortem_${part}.ts`
    ).concat(`${FOLDER}postmortem_text.ts`),
    pairs: [...CAUSE, ...LOOKS, ...SUMMARY, ...ACTS, ...NEXT, ...RECEIPTS],
    labels: [
      "Escalated to people",
      "other finding",
      "Run …:",
      "## Detection …",
      "## Cause …",
      "## What was looked at …",
      "## Impact …",
      "## What had changed before …",
      "## How often before …",
      "## Timeline …",
      "## What was done …",
      "## What to do next …",
      "## Receipts …",
      "## For people to fill in - Impact on users: - What went well: - What went badly: - What will be changed, by whom, by when:",
    ],
    always: {
      "How many requests or users were affected is not known to the platform.":
        "the platform has no record of requests or users",
    },
    // the timeline has sentences of its own, above
    tell: (record) =>
      formatPostmortem(factsOf(record)).text.replace(/## Timeline[^]*?(?=\n## )/, ""),
  });
});
