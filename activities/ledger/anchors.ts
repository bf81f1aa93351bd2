import { MAINNET, openBitcoinSources } from "../../ledger/anchors/ots/mod.ts";
import {
  advanceAnchor as advance,
  type AnchorProgress,
  type BatchRange,
  openAnchors as open,
} from "../../ledger/mod.ts";
import type { ActivityParts } from "../parts.ts";

/** Batches of receipts to anchor. */
export interface OpenBatches {
  /** False: no calendar is configured, so nothing is anchored. */
  readonly configured: boolean;
  /** Not confirmed yet, oldest first. */
  readonly batches: readonly BatchRange[];
  /** Seconds until a calendar is first asked again. */
  readonly poll_seconds: number;
}

/** Creates the activities that anchor receipts in Bitcoin. */
export function anchorActivities({ store, config, network = MAINNET }: ActivityParts) {
  const {
    SEALOOP_OTS_CALENDARS: calendars,
    SEALOOP_BITCOIN_SOURCES: sources,
    SEALOOP_ANCHOR_SECONDS: poll_seconds,
  } = config.settings;
  const anchorParts = { store, calendars, sources: openBitcoinSources(sources), network };

  /** Makes a batch of the receipts since the last batch. Safe to repeat: a receipt is in one batch only. */
  async function openAnchors(): Promise<OpenBatches> {
    if (calendars.length === 0) return { configured: false, batches: [], poll_seconds };
    return { configured: true, batches: await open(store), poll_seconds };
  }

  /**
   * Takes a batch one step further: to the calendars, to a block, to its confirmation. Safe to repeat: a step that was
   * taken is stored.
   */
  async function advanceAnchor({ first }: BatchRange): Promise<AnchorProgress> {
    return await advance(anchorParts, first);
  }

  return { openAnchors, advanceAnchor };
}
