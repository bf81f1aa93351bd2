export { type ChainState, type ChainWatch, type ScrubState, watchChain, type WatchOptions } from "./watch.ts";
export { beginScrub, endScrub, type FailedCheck, type FoundBreak, type KnownChain, type Range, scrubPart, type ScrubParts, type ScrubPass, type ScrubResult } from "./scrub.ts";
