/**
 * Says how far what a resolved incident taught can be trusted: enough to be used at once, to be shown to people, or not.
 *
 * Evidence of the platform itself counts most: a verified repair and its receipt. Text that is meant to steer whoever
 * reads it, or that carries a secret, is never learnt.
 */
import { createHash } from "node:crypto";
import type { LearningItem, NewPassage, ResolvedTicket } from "../store/mod.ts";
import type { Category } from "./labels.ts";
import { ordersTheJudge, secretsIn, tricksIn } from "../guard/text/mod.ts";

/** Below the first it is dropped; from the first up to the second people decide; above it is applied. */
export const BOUNDS = { queued: 50, applied: 85 } as const;

/** One reason for a score. */
export interface Factor {
  /** Such as `verified_repair`. */
  readonly factor: string;
  /** What it adds; negative: takes away. */
  readonly points: number;
}

/** What the arbiter decides. */
export interface Ruling {
  /** 0 to 100. */
  readonly score: number;
  readonly factors: readonly Factor[];
  readonly state: "dropped" | "queued" | "applied";
}

/** Words that a note needs to say something, and to say it well. */
const SAYS = 4;
const SAYS_WELL = 9;
const SURE = 0.7;
const MOST_REPEATS = 4;

/**
 * Scores what a ticket teaches. The same ticket gets the same score.
 *
 * @param category what the classifier takes its words for
 */
export function rule(ticket: ResolvedTicket, category: Category): Ruling {
  const { outcome, receipt_id, resolution, repeats } = ticket;
  const words = resolution?.match(/\p{L}{2,}/gu)?.length ?? 0;
  const diagnosis = ticket.diagnoses.at(-1);
  const classification = diagnosis?.classification as
    | { category?: unknown; confidence?: unknown }
    | null
    | undefined;
  const cited = Array.isArray(diagnosis?.citations) ? diagnosis.citations.length : 0;
  const factors: Factor[] = [
    ...on(outcome === "sealed", "verified_repair", 45),
    ...on(outcome !== "sealed" && ticket.by_person, "closed_by_a_person", 25),
    ...on(receipt_id !== null, "receipt", 10),
    ...(words >= SAYS_WELL
      ? [point("note_says_much", 15)]
      : on(words >= SAYS, "note_says_something", 10)),
    ...on(diagnosis !== undefined, "diagnosed", 10),
    ...on(Number(classification?.confidence ?? 0) >= SURE, "sure_of_it", 10),
    ...on(classification?.category === category, "category_agrees", 5),
    ...on(cited > 0, "cites", 5),
    ...on(outcome === "sealed" && ticket.mended_before > 0 && repeats === 0, "mended_before", 15),
    ...on(ticket.diagnoses.length > 1, "took_several_rounds", -10),
    ...on(repeats > 0, "came_back", -10 * Math.min(repeats, MOST_REPEATS)),
    ...on(isHostile(ticket), "steers_whoever_reads_it", -100),
    ...on(secretsIn(textOf(ticket)).length > 0, "carries_a_secret", -100),
  ];
  const sum = factors.reduce((total, { points }) => total + points, 0);
  const score = Math.min(100, Math.max(0, sum));
  return { score, factors, state: stateOf(score) };
}

/** Id of the receipt of what was learnt from a ticket: the same, whoever applies it. */
export function lessonReceiptId(ticketId: string): string {
  return createHash("sha256").update(`knowledge\n${ticketId}`).digest("hex").slice(0, 16);
}

/** What is kept of a ruling. */
export function itemOf(ticket: ResolvedTicket, passage: NewPassage, ruling: Ruling): LearningItem {
  const { id, title } = ticket;
  const hash = createHash("sha256").update(`learning\n${id}`).digest("hex");
  return {
    id: `LRN-${hash.slice(0, 12)}`,
    ...{ ticket_id: id, title, category: passage.category, passage },
    ...ruling,
    receipt_id: ruling.state === "applied" ? lessonReceiptId(id) : null,
  };
}

function stateOf(score: number): Ruling["state"] {
  return score > BOUNDS.applied ? "applied" : score >= BOUNDS.queued ? "queued" : "dropped";
}

const point = (factor: string, points: number): Factor => ({ factor, points });
const on = (holds: boolean, factor: string, points: number) => holds ? [point(factor, points)] : [];

function textOf({ title, description, resolution }: ResolvedTicket): string {
  return [title, description, resolution ?? ""].join("\n").slice(0, 12_000);
}

/** Orders to a judge that are not merely reported. */
function isHostile(ticket: ResolvedTicket): boolean {
  const text = textOf(ticket);
  return tricksIn(text, true).some(({ reported }) => !reported) || ordersTheJudge(text);
}
