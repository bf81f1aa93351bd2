import type { PostSource } from "./writing/mod.ts";
import type { Context } from "../../calls/mod.ts";
import { planTimeline } from "../../ledger/stories/mod.ts";
import { type MediaFile, openMedia, renderCard } from "../../integrations/media/mod.ts";

/** Cards that are drawn or wait, of all callers of this process: one is drawn at a time. */
const MAX_WAITING = 8;

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * Draws the card of a post. Its manifest names the receipt of the post.
 *
 * @returns null: too many wait already, or it could not be drawn; a post is of use without its picture
 */
export async function drawCard(
  { title, link, receiptId, incident }: PostSource & { readonly receiptId: string },
  { config, log, signal }: Context,
): Promise<MediaFile & { readonly mediaType: string; readonly text: string } | null> {
  if (waiting >= MAX_WAITING) return null;
  waiting++;
  const footer = config.settings.SEALOOP_ARTICLES_NAME;
  const timeline = incident && planTimeline(incident.timeline);
  const card = {
    label: link === undefined ? "Knowledge base" : "Article",
    title,
    footer,
    receiptId,
    ...(timeline ? { timeline } : {}),
  };
  const drawn = last.then(() => renderCard(openMedia(config), card, signal));
  last = drawn.catch(() => {});
  try {
    return { ...await drawn, mediaType: "image/png", text: title };
  } catch (error) {
    log.warn({ error }, "No card was drawn for a post");
    return null;
  } finally {
    waiting--;
  }
}
