import { join } from "node:path";
import type { TimelinePlan } from "../../ledger/stories/mod.ts";
import type { MediaFile, MediaFiles } from "./files.ts";
import { addProvenance } from "./provenance.ts";
import type { MediaTools, RunBounds } from "./tools.ts";

/** A picture to draw: a card with a title, or a frame of a film. */
export interface Picture {
  /** Path of the PNG file. */
  readonly out: string;
  readonly width: number;
  readonly height: number;
  /** Small text above the title. */
  readonly label?: string;
  readonly title: string;
  readonly footer: string;
  /** The sentence before, and the one that is being said; absent: a card. */
  readonly lines?: readonly [before: string, now: string];
  /** Times of the steps, below the title in place of the words. */
  readonly timeline?: TimelinePlan;
  /** Share of the film that is over, 0 to 1. */
  readonly progress?: number;
  /** Path of a PNG beside the words. */
  readonly image?: string;
  /** A face beside the words, and how wide its mouth is open, 0 to 4. */
  readonly mouth?: number;
}

/** A card: a picture for links and posts. */
export interface Card {
  readonly label: string;
  readonly title: string;
  readonly footer: string;
  /** Times of the steps, below the title. */
  readonly timeline?: TimelinePlan;
  /** Pixels; default 1200 × 630, which links are shown with. */
  readonly width?: number;
  readonly height?: number;
  /** Receipt that its manifest names; absent: it has no manifest, and the same card is the same file. */
  readonly receiptId?: string;
}

const CARD = { width: 1200, height: 630 } as const;
const SECONDS = 20;
const SECONDS_PER_PICTURE = 1.5;

/** Draws pictures, in a process of its own. */
export async function drawPictures(
  tools: MediaTools,
  pictures: readonly Picture[],
  bounds: Omit<RunBounds, "seconds">,
): Promise<void> {
  const seconds = SECONDS + Math.ceil(SECONDS_PER_PICTURE * pictures.length);
  await tools.draw(pictures, { ...bounds, seconds });
}

/**
 * Draws a card and keeps it. Needs neither ffmpeg nor Python: where the programs that write manifests are not there yet, it
 * has none, as nobody is to wait for them to be fetched.
 */
export async function renderCard(
  { tools, files }: { readonly tools: MediaTools; readonly files: MediaFiles },
  { receiptId, ...card }: Card,
  signal?: AbortSignal,
): Promise<MediaFile> {
  return await files.inFolder(async (cwd) => {
    const [source, target] = [join(cwd, "card.png"), join(cwd, "signed.png")];
    await drawPictures(tools, [{ ...CARD, ...card, out: source }], { cwd, signal });
    if (receiptId === undefined || !await tools.hasPrograms()) return await files.keep(source);
    const manifest = { mediaType: "image/png", title: card.title, generated: false } as const;
    const order = { ...manifest, source, target, receiptId, keys: files.keys };
    await addProvenance(tools, order, { cwd, signal });
    return await files.keep(target);
  });
}
