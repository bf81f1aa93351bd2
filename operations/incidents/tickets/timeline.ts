import type { TimelineStep } from "../../../contract/domain/mod.ts";
import type { TimelineEvent } from "../../../store/incidents/mod.ts";

/** Steps by the kinds of events that end them. */
const ENDED_STEPS: Readonly<Record<string, TimelineStep["step"]>> = {
  opened: "ticket",
  taken_over: "ticket",
  diagnosed: "diagnose",
  permitted: "approve",
  approval_needed: "approve",
  refused: "approve",
  approval_approved: "approve",
  approval_denied: "approve",
  approval_expired: "approve",
  remediated: "repair",
  remediation_failed: "repair",
  undone: "repair",
  undo_failed: "repair",
  verified: "verify",
  verification_failed: "verify",
  resolved: "seal",
  run_ended: "seal",
  escalated: "seal",
};

/**
 * Returns what took how long in an incident, from the first sight of its fault: each step from the end of the one before
 * to the event that ends it. Steps of the same name that follow each other are one.
 *
 * @param events of its ticket, oldest first
 * @returns empty where nothing says when the fault was seen
 */
export function timelineOf(events: readonly TimelineEvent[]): TimelineStep[] {
  const first = events.find(({ kind }) => kind === "detected");
  const start = Date.parse(String(first?.data.observed_at ?? first?.at));
  if (Number.isNaN(start)) return [];
  const steps: TimelineStep[] = [];
  for (const { at, kind } of events) {
    const isAgain = kind === "detected" && steps.length > 0;
    const step = kind === "detected" ? isAgain ? "wait" : "detect" : ENDED_STEPS[kind];
    if (!step) continue;
    const last = steps.at(-1);
    const from_ms = last?.to_ms ?? 0;
    const to_ms = Math.max(from_ms, Date.parse(at) - start);
    if (last?.step === step) steps[steps.length - 1] = { ...last, to_ms };
    else steps.push({ step, from_ms, to_ms });
  }
  return steps;
}
