import { isOpening } from "./_incident.ts";
import { countWords } from "./_words.ts";
import { asList, asObject, type StoryReceipt } from "./receipt.ts";
import type { Sentence } from "./sentences.ts";

const ENDS = new Set(["self_heal", "escalation", "ticket_closed"]);

/**
 * Returns what the receipts of a subject can't tell, a sentence each.
 *
 * @param receipts of the subject itself, oldest first, with their sentences
 */
export function findMissing(
  about: string,
  receipts: readonly StoryReceipt[],
  sentences: readonly Sentence[],
): string[] {
  if (receipts.length === 0) return [];
  const odd = sentences.filter(({ known }) => !known).length;
  const form = odd === 1 ? "receipt has a form" : "receipts have a form";
  return [
    ...(odd > 0 ? [`${odd} ${form} that there is no sentence for; the fields are shown.`] : []),
    ...(about.startsWith("INC-") ? findMissingOfIncident(about, receipts) : []),
    ...(about.startsWith("APR-") ? findMissingOfApproval(receipts) : []),
  ];
}

function findMissingOfIncident(about: string, receipts: readonly StoryReceipt[]): string[] {
  const of = receipts.filter(({ subject }) => subject === about);
  const ended = new Set(
    of.flatMap(({ details }) => asList(details.steps).map((step) => asObject(step).effect_id)),
  );
  const isOver = of.some(({ category }) => ENDS.has(category));
  const lost =
    of.filter(({ category, details }) =>
      category === "repair_intended" && !ended.has(details.effect_id)
    ).length;
  return [
    ...(of.some(isOpening) ? [] : ["No receipt says how it began."]),
    ...(isOver ? [] : ["No receipt says how it ended: it goes on, or its end is not sealed yet."]),
    ...(isOver && lost > 0
      ? [`What became of ${countWords(lost, "step")} of an earlier round is in no receipt.`]
      : []),
  ];
}

function findMissingOfApproval(receipts: readonly StoryReceipt[]): string[] {
  const moves = receipts.filter(({ category }) => category === "approval");
  return [
    ...(moves.some(({ action }) => action === "approval.requested")
      ? []
      : ["No receipt says that people were asked."]),
    ...(moves.at(-1)?.outcome === "pending" ? ["It is not decided: it waits for people."] : []),
  ];
}
