/**
 * Scores how far a resolved ticket can be trusted as knowledge: applied at once, shown to people first, or dropped.
 *
 * Evidence of the platform itself counts most: a verified repair and its receipt. Text that is meant to steer its reader,
 * or that carries a secret, is never learnt.
 */
import { createHash } from "node:crypto";
import { findSecrets, findTricks, instructsJudge } from "../guard/mod.ts";
import type { LearningItem, NewPassage, ResolvedTicket } from "../../store/learning/mod.ts";
import type { Category } from "./classifier/mod.ts";

/** A score below `queued` is dropped; from there up to `applied` people decide; above, it is applied. */
export const LEARNING_BOUNDS = { queued: 50, applied: 85 } as const;

/** One reason for a score. */
interface Factor {
  /** Such as `verified_repair`. */
  readonly factor: string;
  /** Added to the score; negative: subtracted. */
  readonly points: number;
}

/** A decision of the arbiter. */
export interface Arbitration {
  /** 0 to 100. */
  readonly score: number;
  readonly factors: readonly Factor[];
  readonly state: LearningItem["state"];
}

/** Words of a note that says something, and of one that says much. */
const MIN_WORDS = 4;
const MANY_WORDS = 9;
const MIN_CONFIDENCE = 0.7;
/** Recurrences that are counted. */
const MAX_REPEATS = 4;
const MAX_TEXT_LENGTH = 12_000;

/**
 * Scores a ticket. The same ticket gets the same score.
 *
 * @param category as the classifier takes the ticket's words
 */
export function arbitrate(ticket: ResolvedTicket, category: Category): Arbitration {
  const { outcome, receipt_id, resolution, repeats } = ticket;
  const words = resolution?.match(/\p{L}{2,}/gu)?.length ?? 0;
  const diagnosis = ticket.diagnoses.at(-1);
  const classification = diagnosis?.classification as
    | { category?: unknown; confidence?: unknown }
    | null
    | undefined;
  const citations = Array.isArray(diagnosis?.citations) ? diagnosis.citations.length : 0;
  const isSealed = outcome === "sealed";
  const conditions: readonly (readonly [holds: boolean, factor: string, points: number])[] = [
    [isSealed, "verified_repair", 45],
    [!isSealed && ticket.by_person, "closed_by_a_person", 25],
    [receipt_id !== null, "receipt", 10],
    [words >= MANY_WORDS, "note_says_much", 15],
    [words >= MIN_WORDS && words < MANY_WORDS, "note_says_something", 10],
    [diagnosis !== undefined, "diagnosed", 10],
    [Number(classification?.confidence ?? 0) >= MIN_CONFIDENCE, "sure_of_it", 10],
    [classification?.category === category, "category_agrees", 5],
    [citations > 0, "cites", 5],
    [isSealed && ticket.mended_before > 0 && repeats === 0, "mended_before", 15],
    [ticket.diagnoses.length > 1, "took_several_rounds", -10],
    [repeats > 0, "came_back", -10 * Math.min(repeats, MAX_REPEATS)],
    [isHostile(ticket), "steers_whoever_reads_it", -100],
    [findSecrets(textOf(ticket)).length > 0, "carries_a_secret", -100],
  ];
  const factors = conditions.filter(([holds]) => holds)
    .map(([, factor, points]) => ({ factor, points }));
  const sum = factors.reduce((total, { points }) => total + points, 0);
  const score = Math.min(100, Math.max(0, sum));
  return { score, factors, state: stateOf(score) };
}

/** Returns the id of the receipt of a ticket's lesson. It is the same, whoever applies it. */
export function lessonReceiptId(ticketId: string): string {
  return createHash("sha256").update(`knowledge\n${ticketId}`).digest("hex").slice(0, 16);
}

/** Returns the item to store of a decision. */
export function learningItem(
  { id, title }: ResolvedTicket,
  passage: NewPassage,
  arbitration: Arbitration,
): LearningItem {
  const hash = createHash("sha256").update(`learning\n${id}`).digest("hex");
  return {
    id: `LRN-${hash.slice(0, 12)}`,
    ticket_id: id,
    title,
    category: passage.category,
    passage,
    ...arbitration,
    receipt_id: arbitration.state === "applied" ? lessonReceiptId(id) : null,
  };
}

function stateOf(score: number): Arbitration["state"] {
  if (score > LEARNING_BOUNDS.applied) return "applied";
  return score >= LEARNING_BOUNDS.queued ? "queued" : "dropped";
}

function textOf({ title, description, resolution }: ResolvedTicket): string {
  return [title, description, resolution ?? ""].join("\n").slice(0, MAX_TEXT_LENGTH);
}

/** Tells whether a ticket instructs its reader, rather than reports such an instruction. */
function isHostile(ticket: ResolvedTicket): boolean {
  const text = textOf(ticket);
  return findTricks(text, true).some(({ reported }) => !reported) || instructsJudge(text);
}
