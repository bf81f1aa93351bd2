import type { ArticleSection, ArticleText } from "../../../contract/domain/mod.ts";
import type { TimelineEvent } from "../../../store/incidents/mod.ts";
import { timelineOf } from "../../incidents/tickets/mod.ts";
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
    ...pictureOf(facts),
  };
}

/** Returns what the picture of the incident shows; nothing where its end has no receipt, or nothing says how long it took. */
function pictureOf({ ticket, events }: TicketFacts): Pick<ArticleText, "incident"> {
  const timeline = timelineOf(events);
  if (ticket.receipt_id === null || timeline.length === 0) return {};
  return { incident: { timeline, receipt_id: ticket.receipt_id } };
}

function listReceipts({ ticket, events }: TicketFacts): ArticleText["receipts"] {
  const receipts = new Map<string, string>();
  for (const { kind, data } of events) {
    if (typeof data.receipt_id === "string") {
      receipts.set(data.receipt_id, RECEIPTS[kind] ?? kind.replaceAll("_", " "));
    }
  }
  if (ticket.receipt_id) receipts.set(ticket.receipt_id, "the end of the incident");
  return [...receipts].map(([id, what]) => ({ id, what }));
}

const RECEIPTS: Readonly<Record<string, string>> = {
  permitted: "what the guardrails found",
  approval_needed: "what the guardrails found: a person is asked",
  granted: "the use of a standing grant",
  approval_requested: "the question to a person",
  approval_approved: "the approval",
  escalated: "the call for people",
  resolved: "the end of the incident",
};

const MAX_QUICK_MS = 300_000;
/** Sentence of an event, by its kind. */
const MOMENTS: Readonly<Record<string, (data: TimelineEvent["data"]) => string>> = {
  detected: ({ check }) => check === "report" ? "A report comes in." : "A check finds the fault.",
  opened: () => "The ticket is opened.",
  taken_over: () => "A new run takes the ticket over.",
  diagnosed: ({ cause }) =>
    typeof cause === "string" ? "A cause is named." : "The diagnosis names no cause.",
  permitted: () => "The guardrails have nothing against the repair.",
  refused: () => "The guardrails refuse the repair.",
  granted: () => "People have allowed such a repair beforehand.",
  approval_requested: () => "A person is asked.",
  approval_approved: ({ status }) =>
    status === "pending"
      ? "A person approves the repair, and another one has to."
      : "A person approves the repair.",
  approval_denied: () => "A person denies the repair.",
  approval_expired: () => "Nobody has decided in time.",
  intended: () => "The intent to repair is sealed.",
  remediated: () => "The repair has run.",
  remediation_failed: ({ state }) =>
    state === "unknown"
      ? "Nobody can tell what the repair did."
      : state === "partly_done"
      ? "The repair has run in part."
      : "The repair has changed nothing.",
  verified: () => "The check passes.",
  verification_failed: ({ code }) =>
    code === "no_check" || code === "alerts_unknown"
      ? "No check can tell whether it is over."
      : "The check still fails.",
  undone: ({ code }) =>
    code === "nothing_to_undo" ? "There is nothing to undo." : "The repair is undone.",
  escalated: () => "People are called.",
  guardrails_back: () => "The guardrails can be asked again, and the run goes on.",
  resolved: ({ receipt_id }) =>
    typeof receipt_id === "string"
      ? "The ticket is resolved, and its receipt is sealed."
      : "The ticket is resolved.",
};

/** Lists the moments of an incident. */
function describeTimeline(
  { events }: TicketFacts,
  book: FactBook,
): ArticleSection | undefined {
  const start = Date.parse(events[0]?.at ?? "");
  const sentences = events.flatMap(({ at, kind, data }) => {
    const moment = MOMENTS[kind]?.(data);
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
