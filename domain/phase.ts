/** Phases of a ticket by the steps of the loop, in their order. */
export const PHASES = [
  "detected",
  "ticketed",
  "diagnosed",
  "remediated",
  "verified",
  "sealed",
] as const;

/** How far the work on a ticket has come. */
export type Phase = typeof PHASES[number];
