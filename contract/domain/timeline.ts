/** Parts of an incident, in the order in which they usually come. */
export const TIMELINE_STEPS = [
  "detect",
  "ticket",
  "diagnose",
  "approve",
  "repair",
  "verify",
  "wait",
  "seal",
] as const;

/** A part of an incident, in milliseconds since the fault was seen. Receipts have it in this form. */
export interface TimelineStep {
  /** `approve`: guardrails and people; `wait`: left to people. */
  readonly step: typeof TIMELINE_STEPS[number];
  readonly from_ms: number;
  readonly to_ms: number;
}

/** Content of the picture of an incident: the time of each step, and where it is sealed. */
export interface IncidentPicture {
  readonly timeline: readonly TimelineStep[];
  /** Receipt of its end. */
  readonly receipt_id: string;
}
