import type { ArticleSection, ArticleText } from "../../../contract/domain/mod.ts";
import { type FactBook, section, sentence } from "./_facts.ts";
import { describeAdvice } from "./_ticket_advice.ts";
import type { TicketFacts } from "./_ticket_facts.ts";
import {
  describeFailedTries,
  describePeople,
  describePermission,
  describeRepair,
} from "./_ticket_repair.ts";
import { describeDiagnosis, tellStory } from "./_ticket_story.ts";

/** Writes the article about a resolved ticket by rules. */
export function writeTicketArticle(facts: TicketFacts, book: FactBook): ArticleText {
  const story = tellStory(facts, book);
  const sections = [
    story.lead,
    describeDiagnosis(facts, book),
    describeFailedTries(facts, book),
    describeRepair(facts, book),
    describePermission(facts, book),
    describePeople(facts, book),
    describeAdvice(facts, book),
    describeTimeline(facts, book),
  ].filter((section) => section !== undefined);
  return {
    title: story.title,
    description: story.description,
    sections,
    receipts: listReceipts(facts),
  };
}

function listReceipts({ ticket, events }: TicketFacts): ArticleText["receipts"] {
  const receipts = new Map<string, string>();
  for (const { kind, data } of events) {
    if (typeof data.receipt_id === "string") {
      receipts.set(data.receipt_id, RECEIPTS[kind] ?? kind.replaceAll("_", " "));
    }
  }
  if (ticket.receipt_id) receipts.set(ticket.receipt_id, "the incident as a whole");
  return [...receipts].map(([id, what]) => ({ id, what }));
}

const RECEIPTS: Readonly<Record<string, string>> = {
  permitted: "the verdict of the guardrails",
  approval_needed: "the verdict of the guardrails, by which a person is asked",
  approval_requested: "the question to a person",
  approval_approved: "the approval",
  escalated: "the call for people",
  resolved: "the incident as a whole",
};

const MAX_QUICK_MS = 300_000;
const MOMENTS: Readonly<Record<string, string>> = {
  detected: "The check fails, and an incident begins.",
  opened: "The ticket is opened.",
  diagnosed: "The cause is known.",
  permitted: "The guardrails allow the repair.",
  approval_requested: "A person is asked.",
  approval_approved: "A person approves the repair.",
  approval_denied: "A person denies the repair.",
  intended: "The intent to repair is sealed.",
  remediated: "The repair has run.",
  verified: "The check passes again.",
  verification_failed: "The check still fails.",
  escalated: "People are called.",
  resolved: "The ticket is resolved, and its receipt is sealed.",
};

/** Lists the moments of an incident. */
function describeTimeline(
  { events }: TicketFacts,
  book: FactBook,
): ArticleSection | undefined {
  const start = Date.parse(events[0]?.at ?? "");
  const sentences = events.flatMap(({ at, kind }) => {
    const moment = MOMENTS[kind];
    if (!moment) return [];
    const text = `\`+${formatOffset(Date.parse(at) - start)}\` ${moment}`;
    return [sentence(text, book.add("timeline", text, true))];
  });
  if (sentences.length < 3) return undefined;
  const isQuick = Date.parse(events.at(-1)!.at) - start < MAX_QUICK_MS;
  const heading = isQuick ? "Second by second" : "Step by step";
  return section(heading, { kind: "list", sentences });
}

/** Returns the time since the beginning: `2.58 s`, `14 min`, `3.5 h`. */
function formatOffset(ms: number): string {
  if (ms < MAX_QUICK_MS) return `${(ms / 1_000).toFixed(2)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}
