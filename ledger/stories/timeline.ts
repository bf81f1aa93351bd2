import type { TimelineStep } from "../../contract/domain/mod.ts";
import { printDuration } from "./_words.ts";

/** A line of a timeline's picture. */
interface TimelineLine {
  /** For people: `Diagnose`. */
  readonly name: string;
  /** When it begins, and how long it is, as shares of the whole, 0 to 1. */
  readonly from: number;
  readonly share: number;
  /** How long it took: `2.1 s`. */
  readonly took: string;
}

/** A timeline's picture: one line a step, and the length of all. Pages, articles and films draw the same one. */
export interface TimelinePlan {
  readonly lines: readonly TimelineLine[];
  readonly took: string;
  /** All of it in one sentence, for those who don't see it. */
  readonly says: string;
}

const NAMES: Readonly<Record<TimelineStep["step"], string>> = {
  detect: "Detect",
  ticket: "Ticket",
  diagnose: "Diagnose",
  approve: "Approve",
  repair: "Repair",
  verify: "Verify",
  wait: "Left to people",
  seal: "Seal",
};
const MAX_LINES = 14;

/** Plans the picture of a timeline; lengths are true, so that a short step is a thin line. @returns undefined: there is none */
export function planTimeline(steps: readonly TimelineStep[]): TimelinePlan | undefined {
  const total = steps.at(-1)?.to_ms ?? 0;
  if (total <= 0) return undefined;
  const lines = steps.slice(0, MAX_LINES).map(({ step, from_ms, to_ms }) => ({
    name: NAMES[step],
    from: from_ms / total,
    share: (to_ms - from_ms) / total,
    took: printStep(to_ms - from_ms),
  }));
  const took = printStep(total);
  const parts = lines.map(({ name, took }) => `${name.toLowerCase()} ${took}`).join(", ");
  return { lines, took, says: `What took how long, ${took} in all: ${parts}` };
}

const printStep = (ms: number) => ms < 950 ? `${Math.round(ms)} ms` : printDuration(ms);
