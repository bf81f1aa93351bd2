import type { TimelineStep } from "../../contract/domain/mod.ts";
import { isOpening, timelineIn } from "./_incident.ts";
import { findMissing } from "./_missing.ts";
import { countWords, msBetween, sentence } from "./_words.ts";
import type { StoryReceipt } from "./receipt.ts";
import { type Sentence, tellReceipt } from "./sentences.ts";

/** A story of one subject, by its receipts. */
export interface Story {
  /** In one line, with arrows: `needed approval: changes were frozen → approved by one person → restarted once`. */
  readonly summary: string;
  /** Sentences of its own receipts, oldest first. */
  readonly sentences: readonly Sentence[];
  /** Receipts of something else that name it: another incident that cites it, a key holder's statement. */
  readonly mentions: readonly Sentence[];
  /** Gaps, a sentence each. */
  readonly missing: readonly string[];
  /** Of an incident: what took how long; empty where no receipt tells it. */
  readonly timeline: readonly TimelineStep[];
}

/** Categories whose receipts others write: they are no part of a story. */
const OF_OTHERS = new Set(["api_seal", "agent_note"]);

/**
 * Tells what receipts say of one subject.
 *
 * @param about its id: `INC-…`, `APR-…`, …
 * @param receipts that name it, oldest first
 */
export function tellStory(about: string, receipts: readonly StoryReceipt[]): Story {
  const own = receipts.filter((receipt) => isOf(about, receipt));
  const start = own.find((receipt) => isOpening(receipt) && receipt.subject === about)?.timestamp;
  const sentences = own.map((receipt) =>
    tellReceipt(receipt, start === undefined ? undefined : msBetween(start, receipt.timestamp))
  );
  return {
    summary: sentence(summarize(about, own, sentences)),
    sentences,
    mentions: receipts.filter((receipt) => !own.includes(receipt)).map((one) => tellReceipt(one)),
    missing: findMissing(about, own, sentences),
    timeline: about.startsWith("INC-")
      ? own.map(timelineIn).findLast((steps) => steps.length > 0) ?? []
      : [],
  };
}

/** Returns whether a receipt is of a subject itself, and does not only name it among other things. */
function isOf(about: string, { category, actor, subject, details }: StoryReceipt): boolean {
  if (OF_OTHERS.has(category)) return actor === about;
  return [actor, subject, ...Object.values(details)].includes(about);
}

/** Categories that a summary leaves out, as others say the same. */
const ASIDE = new Set([
  "governance_decision",
  "tool_call",
  "api_call",
  "silence_intended",
  "silence_ended",
  "repair_intended",
]);
const MAX_LINKS = 8;

function summarize(
  about: string,
  receipts: readonly StoryReceipt[],
  sentences: readonly Sentence[],
): string {
  if (receipts.length === 0) return "No receipt of the platform is about it";
  const parts = receipts
    .flatMap((receipt, n) =>
      !ASIDE.has(receipt.category) && isTelling(about, receipt) ? [sentences[n]!.text] : []
    )
    .map((text) => (/^An? [A-Z]{2}/.test(text) ? text : lowerFirst(text)).replace(/\.$/, ""))
    .filter((part, n, all) => part !== all[n - 1]);
  if (parts.length === 0) {
    const n = receipts.length;
    return `${countWords(n, "receipt")} ${n === 1 ? "is" : "are"} about it`;
  }
  return parts.length <= MAX_LINKS
    ? parts.join(" → ")
    : [...parts.slice(0, 3), "…", ...parts.slice(3 - MAX_LINKS)].join(" → ");
}

/** An incident's summary leaves out that it was allowed, and that people were asked: the answer says it. */
function isTelling(about: string, { category, action, outcome }: StoryReceipt): boolean {
  if (!about.startsWith("INC-")) return true;
  if (category === "guardrail_verdict") return outcome !== "allow";
  return action !== "approval.requested";
}

const lowerFirst = (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1);
