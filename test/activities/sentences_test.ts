import { testSentences } from "../_sentences.ts";
import { openPlatforms, type Platforms } from "./sentences/_platforms.ts";
import { ANSWERS } from "./sentences/answers.ts";
import { CREW, LOGS } from "./sentences/crew.ts";
import { type Asked, LOOKUPS } from "./sentences/lookups.ts";

const FOLDER = "activities/reasoning/";

describe("the sentences of agents", () => {
  let platforms: Platforms;
  before(async () => {
    platforms = await openPlatforms();
  });
  after(() => platforms?.close());

  const tell = (ask: Asked) => ask(platforms);

  describe("that look something up", () => {
    testSentences({
      sources: ["lookup", "platform", "services", "tickets"].map((part) =>
        `${FOLDER}lookups/_${part}.ts`
      ),
      pairs: LOOKUPS,
      labels: [
        "Receipt at position …",
        "Approval …",
        "of …",
        "Service …",
        "Service graph around …",
        "Ticket …",
      ],
      always: {
        "The ledger has … receipts; …": "its numbers are those of the records",
        "Services, as last seen: …": "as above",
        "Tickets: … open (… with people), … resolved.": "as above",
        "… approvals wait for people.": "as above",
        "The service graph has … services (as last seen: …) and … edges.": "as above",
        "The platform keeps no record of …, so it cannot say: it knows services and their checks, tickets, repairs, approvals and receipts.":
          "it is said of what no lookup reads",
      },
      tell,
    });
  });

  describe("of the crew", () => {
    testSentences({
      sources: [
        "changes",
        "examination",
        "logs",
        "metrics",
        "sources",
        "topology",
        "triage",
        "verification",
      ].map((part) => `${FOLDER}crew/_${part}.ts`).concat(`${FOLDER}crew/drafts.ts`),
      pairs: [...CREW, ...LOGS],
      labels: ["Service …"],
      always: {},
      tell,
    });
  });

  describe("that answer", () => {
    testSentences({
      sources: [`${FOLDER}_answer.ts`, `${FOLDER}nodes.ts`],
      pairs: ANSWERS,
      labels: [
        "The guardrails refuse this text: …",
        "Which incident or service is this about?",
        "Say what fails and how, or name a ticket (INC-…), a receipt id, or a service…",
      ],
      always: {
        "The guardrails returned no verdict on the input": "an error, not a sentence of an answer",
        "The pipeline has no tool …": "an error, not a sentence of an answer",
        "Status, incidents, approvals, repairs, services and the ledger can be asked about, too.":
          "the lookups of these topics exist",
      },
      tell,
    });
  });
});
