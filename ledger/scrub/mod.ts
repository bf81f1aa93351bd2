export {
  type ChainState,
  type ChainWatch,
  type ScrubState,
  watchChain,
  type WatchOptions,
} from "./watch.ts";
export {
  beginScrub,
  type ChainSnapshot,
  type CompactRange,
  endScrub,
  type FailedCheck,
  type LedgerBreak,
  scrubPart,
  type ScrubParts,
  type ScrubPass,
  type ScrubResult,
} from "./scrub.ts";
