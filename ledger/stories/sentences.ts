import { APPROVAL_SENTENCES } from "./_approval.ts";
import { INCIDENT_SENTENCES } from "./_incident.ts";
import { OTHER_SENTENCES } from "./_others.ts";
import type { Tell } from "./_tell.ts";
import { sayCode, sentence } from "./_words.ts";
import { namesIn, type StoryReceipt } from "./receipt.ts";

/** Sentences of one receipt. */
export interface Sentence {
  /** Id of the receipt; empty: it has none that can be read. */
  readonly receipt: string;
  readonly position: number;
  /** Time of the receipt, as it says it. */
  readonly at: string;
  readonly text: string;
  /** False: there is no sentence for such receipts, and the text repeats their fields. */
  readonly known: boolean;
  /** Text that a person published with it; empty: none. */
  readonly quote: string;
  /** Ids that it names. */
  readonly names: readonly string[];
}

const SENTENCES: ReadonlyMap<string, Tell> = new Map(
  Object.entries({ ...INCIDENT_SENTENCES, ...APPROVAL_SENTENCES, ...OTHER_SENTENCES }),
);

/** Says in one sentence what a receipt tells. @param since milliseconds since the incident's first receipt, where it is told with that */
export function tellReceipt(receipt: StoryReceipt, since?: number): Sentence {
  const told = SENTENCES.get(receipt.category)?.(receipt, since);
  return {
    receipt: receipt.id,
    position: receipt.position,
    at: receipt.timestamp,
    text: sentence(told ?? repeatFields(receipt)),
    known: told !== undefined,
    quote: receipt.humanInput,
    names: namesIn(receipt),
  };
}

function repeatFields({ category, action, outcome }: StoryReceipt): string {
  if (category === "") return "This receipt can't be read";
  const fields = [action, outcome].filter(Boolean).map(sayCode).join(": ");
  return `A receipt of the category ${category}${fields ? ` (${fields})` : ""}`;
}
