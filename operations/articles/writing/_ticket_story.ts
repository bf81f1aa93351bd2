/** The beginning of an article about a ticket: its title, its description, what happened, and how the cause was found. */
import { type ArticleSentence, DRILL_SERVICE_PATTERN } from "../../../contract/domain/mod.ts";
import { type FactBook, paragraph, section, sentence } from "./_facts.ts";
import type { TicketFacts } from "./_ticket_facts.ts";
import { endingOf, findDiagnosis, isConsented } from "./_ticket_record.ts";
import {
  clip,
  clipTitle,
  count,
  formatDay,
  formatDuration,
  formatTimes,
  upperFirst,
} from "./_words.ts";
import { findSymptom, type Symptom } from "./symptoms.ts";

const MAX_TITLE = 60;
const MAX_ENTRIES = 4;
const MAX_REPORT = 400;
/** People are not quicker than this; a shorter time only says when the ticket was written. */
const MIN_TOLD_MS = 60_000;
/** Matches what a measurement says where the first sentence has said it. */
const REPEATS = /^(?:Nothing listens|\d+ sources?\b|(?:Its address|The service)\b.*\banswer)/;
/** Matches what detectors, and not people, write into a ticket. */
const BY_DETECTORS = /^(?:What mends it:|Likely the cause of \d+ more:)/;
/** Matches events in which people had a part. */
const BY_PEOPLE = /^(?:approval_.*|escalated|granted|acknowledged|taken|handed_back)$/;
const DRILL_SERVICE = new RegExp(DRILL_SERVICE_PATTERN);

/** Writes title, description and the first paragraph. */
export function tellStory(facts: TicketFacts, book: FactBook) {
  const { ticket, scrubber } = facts;
  const symptom = symptomOf(facts);
  const ms = Date.parse(ticket.resolved_at ?? ticket.opened_at) - Date.parse(ticket.opened_at);
  const took = ticket.resolved_at === null ? null : formatDuration(ms);
  const ending = endingOf(facts);
  const tell = (from: string, text: string) => sentence(text, book.add(from, text));
  const opened = book.add(
    "ticket",
    `On ${formatDay(ticket.opened_at)} ${symptom.seen}; severity ${ticket.severity}.`,
  );
  const diagnosis = findDiagnosis(facts);
  const says = typeof diagnosis?.says === "string" ? scrubber.scrub(diagnosis.says) : "";
  const isTold = says === "" || symptom.codes.length > 0 && REPEATS.test(says);
  const more = /^Likely the cause of (\d+) more/m.exec(ticket.description)?.[1];
  const lead: ArticleSentence[] = [
    sentence(`On ${formatDay(ticket.opened_at)} ${symptom.seen}`, opened),
    ...isTold ? [] : [tell("diagnosis", says)],
    ...more
      ? [tell(
        "ticket",
        `${
          count(Number(more), "more finding")
        } joined the same incident, as the fault is their likely cause.`,
      )]
      : [],
    ...readReport(facts, symptom).map((text) => tell("ticket", text)),
  ];
  const drill = describeDrill(ticket.service).map((text) => tell("ticket", text));
  const end = took === null ? undefined : describeEnd(facts, took, ms);
  if (end) lead.push(tell("ticket", end));
  return {
    title: titleOf(
      symptom,
      ending === "repaired"
        ? isConsented(facts) ? ", repaired after approval" : `, healed in ${took}`
        : TITLE_ENDS[ending],
    ),
    description: describe(symptom, facts),
    lead: section(null, paragraph(lead), paragraph(drill)),
  };
}

const TITLE_ENDS = {
  over: ", over without a repair",
  gone: ": how it ended",
  closed_by_person: ": what people did",
  closed: ": how it ended",
} as const;

/** Tells how it ended; undefined: it was over so soon that the ticket was only written afterwards. */
function describeEnd(facts: TicketFacts, took: string, ms: number): string | undefined {
  const after = `${took} after the incident was opened`;
  switch (endingOf(facts)) {
    case "repaired":
      if (isConsented(facts)) {
        return `A person agreed to the repair, and ${after} its check passed again.`;
      }
      return facts.events.some(({ kind }) => BY_PEOPLE.test(kind))
        ? `The platform repaired it: ${after}, its check passed again.`
        : `The platform repaired it without a person: ${after}, its check passed again.`;
    case "over":
      return `No repair of the platform ended it: ${after}, its check passed again.`;
    case "gone":
      return `The platform looked again ${after}, and the fault was gone.`;
    case "closed_by_person":
      return ms < MIN_TOLD_MS ? undefined : `People closed its ticket ${after}.`;
    case "closed":
      return ms < MIN_TOLD_MS ? undefined : `Its ticket was closed ${after}.`;
  }
}

function symptomOf({ events, ticket, scrubber }: TicketFacts): Symptom {
  const { code = "", check = "" } = events.find(({ kind }) => kind === "detected")?.data ?? {};
  const known = findSymptom(String(code));
  if (known) return known;
  const isReport = check === "report";
  const words = isReport ? ticket.description.split(/(?<=[.!?])\s+|\n/)[0]! : ticket.title;
  const text = upperFirst(scrubber.scrub(words).replace(/[.:\s]+$/, ""));
  const byPeople = isReport || code === "";
  return {
    codes: [],
    title: clipTitle(text, MAX_TITLE),
    seen: byPeople ? `people reported this: “${text}”` : `a check found this: “${text}”`,
  };
}

/** Returns a title with its end, where both fit. */
function titleOf({ title }: Symptom, end: string): string {
  const full = title.includes(":") && end.startsWith(":") ? title : title + end;
  return full.length <= MAX_TITLE ? full : clipTitle(title, MAX_TITLE);
}

function describeDrill(service: string | null): string[] {
  if (service === null || !DRILL_SERVICE.test(service)) return [];
  return service.startsWith("attack")
    ? [
      "This was a drill: the platform attacked a sandbox of its own, to see that it finds and ends the attack.",
    ]
    : ["This was a drill: the platform broke a service of its own, to see that it heals."];
}

/** Returns what people wrote about it, without sentences that name something private. */
function readReport({ ticket, scrubber }: TicketFacts, { codes, seen }: Symptom): string[] {
  const { description } = ticket;
  if (BY_DETECTORS.test(description)) return [];
  const texts = description.split(/(?<=[.!?])\s+|\n+/)
    .filter((text) => text.trim() !== "" && scrubber.find(text).length === 0);
  if (codes.length === 0) {
    return texts.filter((text) => !seen.includes(text.replace(/[.:\s]+$/, "")))
      .slice(0, MAX_ENTRIES);
  }
  const report = clip(texts.join(" ").trim(), MAX_REPORT).replace(/\.$/, "");
  return report === "" ? [] : [`The report was in these words: “${report}”.`];
}

function describe({ codes, title, seen }: Symptom, facts: TicketFacts): string {
  const { passage } = facts;
  const isReport = codes.length === 0;
  const begun = isReport ? title : upperFirst(seen);
  const found = isReport ? "what was seen" : "what was measured";
  const mended = MENDED[endingOf(facts)];
  const more = passage
    ? ["and how to check for the same fault yourself."]
    : hasReceipt(facts)
    ? ["and the receipts that prove it."]
    : [];
  const ends = [
    ...more.map((last) => `: ${found}, ${mended}, ${last}`),
    `: ${found}, and ${mended}.`,
  ];
  const fitting = ends.map((end) => begun + end).find((text) => text.length <= 155);
  return fitting ?? `${clip(begun, 150)}.`;
}

function hasReceipt({ ticket, events }: TicketFacts): boolean {
  return ticket.receipt_id !== null ||
    events.some(({ data }) => typeof data.receipt_id === "string");
}

const MENDED = {
  repaired: "how it was repaired",
  over: "how it ended",
  gone: "how it ended",
  closed_by_person: "what people did about it",
  closed: "how it was closed",
} as const;

/** Tells what the cause is and how it was found, or that it is not known; undefined: nothing was diagnosed. */
export function describeDiagnosis(facts: TicketFacts, book: FactBook) {
  const diagnosis = findDiagnosis(facts);
  if (!diagnosis) return undefined;
  const { because, classification, reading, basis, cause } = diagnosis as {
    because?: string;
    classification?: { category: string; confidence: number };
    reading?: { category: string };
    basis?: string;
    cause?: string | null;
  };
  const texts = cause ? describeCause(diagnosis, facts) : ["The cause is not known."];
  if (because && basis === "measured") texts.push(facts.scrubber.scrub(because));
  if (classification) {
    const { category, confidence } = classification;
    texts.push(
      `${JUDGES[String(basis)] ?? "What is known points to"} the category “${category}”, with ${
        percent(confidence)
      } confidence.`,
    );
    if (reading && basis !== "words" && reading.category !== category) {
      texts.push(
        `Read by its words alone, the report looked like “${reading.category}”; ${
          basis === "observed" ? "what was observed" : "the measurement"
        } decided.`,
      );
    }
  }
  const rounds = facts.events.filter(({ kind }) => kind === "diagnosed").length;
  if (rounds > 1) texts.push(`It was diagnosed ${formatTimes(rounds)}.`);
  const sentences = texts.map((text) => sentence(text, book.add("diagnosis", text)));
  return section(cause ? "How the cause was found" : "What was found out", paragraph(sentences));
}

const JUDGES: Readonly<Record<string, string>> = {
  observed: "The cause belongs to",
  measured: "What was measured points to",
  words: "The words of the report point to",
};

const percent = (share: number) => `${Math.round(share * 100)} percent`;

/** Tells the cause, and what speaks for it and against others. */
function describeCause(
  { cause, cause_says: says, cause_confidence: confidence, observations, alternatives }: Readonly<
    Record<string, unknown>
  >,
  { scrubber }: TicketFacts,
): string[] {
  const sure = typeof confidence === "number" ? `, with ${percent(confidence)} confidence` : "";
  const n = Array.isArray(observations) ? observations.length : 0;
  const by = n > 0 ? count(n, "observation") : "the code of the check alone";
  const others = Array.isArray(alternatives)
    ? (alternatives as { cause: string; because: string }[])
      .filter(({ because }) => !/^(?:less|too little) speaks for it/.test(because))
    : [];
  return [
    typeof says === "string"
      ? scrubber.scrub(says)
      : `The cause was named: ${String(cause).replaceAll("_", " ")}.`,
    `That was named by ${by}${sure}.`,
    ...others.slice(0, MAX_ENTRIES).map((one) =>
      scrubber.scrub(`The cause “${one.cause.replaceAll("_", " ")}” was ruled out: ${one.because}.`)
    ),
  ];
}
