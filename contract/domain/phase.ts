/** Phases of a ticket by the steps of the loop, in their order. */
export const PHASES = [
  "detected",
  "ticketed",
  "diagnosed",
  "remediated",
  "verified",
  "sealed",
] as const;

/** Progress of the work on a ticket. */
export type Phase = typeof PHASES[number];
