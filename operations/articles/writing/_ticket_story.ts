/** The beginning of an article about a ticket: its title, its description, what happened, and how the cause was found. */
import { type ArticleSentence, DRILL_SERVICE_PATTERN } from "../../../contract/domain/mod.ts";
import { type FactBook, paragraph, section, sentence } from "./_facts.ts";
import type { TicketFacts } from "./_ticket_facts.ts";
import { clip, clipTitle, count, formatDay, formatDuration, upperFirst } from "./_words.ts";
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
const DRILL_SERVICE = new RegExp(DRILL_SERVICE_PATTERN);

/** Writes title, description and the first paragraph. */
export function tellStory(facts: TicketFacts, book: FactBook) {
  const { ticket, events, scrubber } = facts;
  const symptom = symptomOf(facts);
  const ms = Date.parse(ticket.resolved_at ?? ticket.opened_at) - Date.parse(ticket.opened_at);
  const took = ticket.resolved_at === null ? null : formatDuration(ms);
  const asked = events.some(({ kind }) => kind === "approval_approved");
  const healed = ticket.outcome === "sealed" && events.some(({ kind }) => kind === "verified");
  const tell = (from: string, text: string) => sentence(text, book.add(from, text));
  const opened = book.add(
    "ticket",
    `On ${formatDay(ticket.opened_at)} ${symptom.seen}; severity ${ticket.severity}.`,
  );
  const diagnosis = events.findLast(({ kind }) => kind === "diagnosed")?.data;
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
          count(Number(more), "more check")
        } failed for the same reason, and all of it became one incident.`,
      )]
      : [],
    ...readReport(facts, symptom).map((text) => tell("ticket", text)),
  ];
  const drill = describeDrill(ticket.service).map((text) => tell("ticket", text));
  if (healed && took) {
    lead.push(tell(
      "ticket",
      asked
        ? `A person agreed to the repair, and ${took} after the incident was opened its check passed again.`
        : `The platform repaired it without a person: ${took} after the incident was opened, its check passed again.`,
    ));
  } else if (took && ms >= MIN_TOLD_MS) {
    lead.push(tell("ticket", `People resolved it within ${took}.`));
  }
  return {
    title: titleOf(
      symptom,
      healed
        ? asked ? ", repaired after approval" : `, healed in ${took}`
        : ": how people solved it",
    ),
    description: describe(symptom, facts),
    lead: section(null, paragraph(lead), paragraph(drill)),
  };
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
  return report === "" ? [] : [`People had reported it in these words: “${report}”.`];
}

function describe({ codes, title, seen }: Symptom, facts: TicketFacts): string {
  const { passage, events, ticket } = facts;
  const isReport = codes.length === 0;
  const begun = isReport ? title : upperFirst(seen);
  const found = isReport ? "what was seen" : "what was measured";
  const healed = ticket.outcome === "sealed" && events.some(({ kind }) => kind === "remediated");
  const mended = healed ? "how it was repaired" : "what people did about it";
  const ends = [
    `: ${found}, ${mended}, ${
      passage ? "and how to check for the same fault yourself." : "and the receipts that prove it."
    }`,
    `: ${found}, and ${mended}.`,
  ];
  const fitting = ends.map((end) => begun + end).find((text) => text.length <= 155);
  return fitting ?? `${clip(begun, 150)}.`;
}

/** Tells how the cause was found; undefined: nothing was diagnosed. */
export function describeDiagnosis({ events, scrubber }: TicketFacts, book: FactBook) {
  const diagnosis = events.findLast(({ kind }) => kind === "diagnosed")?.data;
  if (!diagnosis) return undefined;
  const { because, classification, reading, round, basis } = diagnosis as {
    because?: string;
    classification?: { category: string; confidence: number };
    reading?: { category: string };
    round?: number;
    basis?: string;
  };
  const texts: string[] = [];
  if (because) texts.push(scrubber.scrub(because));
  if (classification) {
    const { category, confidence } = classification;
    const likely = `${Math.round(confidence * 100)} percent confidence`;
    texts.push(
      basis === "measured"
        ? `What was measured points to the category “${category}”, with ${likely}.`
        : `The words of the report point to the category “${category}”, with ${likely}.`,
    );
    if (reading && reading.category !== category) {
      texts.push(
        `Read by its words alone, the report looked like “${reading.category}”; the measurement decided.`,
      );
    }
  }
  if (round !== undefined && round > 1) {
    texts.push(`It took ${round} rounds of diagnosis, as what was tried before did not help.`);
  }
  if (texts.length === 0) return undefined;
  const sentences = texts.map((text) => sentence(text, book.add("diagnosis", text)));
  return section("How the cause was found", paragraph(sentences));
}
