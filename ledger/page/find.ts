import { InvalidInput } from "../../contract/mod.ts";
import { isName } from "../stories/mod.ts";
import type { Call, Stats, Verified } from "./_answers.ts";
import { MAX_ENTERED, showPrivate, showUnknown, type SiteResponse } from "./_responses.ts";
import { receiptUrl, storyUrl } from "./views/mod.ts";

const POSITION = /^#?\d{1,15}$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
/** Matches a part of an id or a hash, and no name. */
const PART_OF_ID = /^(?:[0-9a-f]{4,}|[a-z]{2,5}-[0-9a-f]*|key:.*|voter:.*)$/i;

/**
 * Finds what a visitor has typed: a position, an id that receipts name, a day, a category, a receipt by its id or by a part
 * of its id or hash. Says of everything else why it is not to be found.
 */
export async function find(call: Call, entered: string): Promise<SiteResponse> {
  const text = entered.trim();
  if (text === "") return { location: "/" };
  if (isPosition(text)) return { location: `/at/${Number(text.replace("#", ""))}` };
  const name = toName(text);
  if (name !== undefined) return { location: storyUrl(name) };
  if (DAY.test(text)) return { location: `/?kind=all&day=${text}#receipts` };
  const category = text.toLowerCase().replaceAll(/[\s-]/g, "_");
  const { provenance_summary: categories } = await call("public_ledger.stats", {}) as Stats;
  if (Object.hasOwn(categories, category)) {
    return { location: `/?category=${encodeURIComponent(category)}#receipts` };
  }
  const { receipt } = await findReceipt(call, text);
  if (receipt) return { location: receiptUrl(receipt.receipt_id) };
  return PART_OF_ID.test(text) ? showUnknown(text) : showPrivate(text);
}

/** A short number is a position, a long one may be a part of a hash. */
const isPosition = (text: string) =>
  POSITION.test(text) && (text.startsWith("#") || text.length < 8);

/** Returns the id that a text is, in whatever case it was typed; a key's also without the word before it. */
function toName(text: string): string | undefined {
  const [, letters, digits] = /^([a-z]{2,5})-([0-9a-f]{12})$/i.exec(text) ?? [];
  const name = letters ? `${letters.toUpperCase()}-${digits!.toLowerCase()}` : text.toLowerCase();
  return isName(name) ? name : undefined;
}

/** Finds a receipt by its id, or by a part of its id or hash; one that is too short to look for is not there. */
async function findReceipt(call: Call, text: string): Promise<Verified> {
  try {
    return text.length > MAX_ENTERED
      ? { receipt: null }
      : await call("public_ledger.verify", { receipt_id: text }) as Verified;
  } catch (error) {
    if (error instanceof InvalidInput && text.length < 8) return { receipt: null };
    throw error;
  }
}
