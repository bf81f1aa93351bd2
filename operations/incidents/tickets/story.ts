import type { ComposedText, NumberedObservation, Phase } from "../../../contract/domain/mod.ts";
import type { Repair } from "../../../store/incidents/mod.ts";
import { compose } from "./_markdown.ts";
import { formatActions } from "./_postmortem_actions.ts";
import { type Alternative, WEAKER } from "./_postmortem_cause.ts";
import { type DiagnosisEvent, moveOf, readDiagnoses } from "./_postmortem_facts.ts";
import type { PostmortemFacts } from "./postmortem_text.ts";
import { describeEvent } from "./_postmortem_timeline.ts";

/** An incident as its facts tell it. */
interface Story {
  /** Oldest first. */
  readonly events: readonly StoryEvent[];
  /** Diagnoses, oldest first. */
  readonly causes: readonly StoryCause[];
  /** Observations with the number of the run that made them, from 1: a diagnosis names those of its own run. */
  readonly observations: readonly (NumberedObservation & { readonly run: number })[];
  /** Services that need the one of the incident; null: the service graph does not have that one. */
  readonly dependants: readonly string[] | null;
  readonly approvals: readonly { readonly approval_id: string; readonly status: string }[];
  /** Actions on the incident, oldest first. */
  readonly repairs: readonly Repair[];
  /** Markdown: who allowed what was done, and what it did. */
  readonly done: ComposedText;
}

/** An event in a sentence. */
interface StoryEvent {
  readonly at: string;
  readonly kind: string;
  /** The step of the loop that the ticket reached by it; null: none. */
  readonly phase: Phase | null;
  /** Markdown of one line. */
  readonly says: ComposedText;
  readonly receipt_id: string | null;
  readonly approval_id: string | null;
}

/** A cause that a diagnosis named, with what speaks for it. */
interface StoryCause {
  readonly at: string;
  readonly run: number;
  readonly round: number;
  readonly symptom: string;
  /** Null: none was named. */
  readonly cause: string | null;
  readonly says: string | null;
  readonly confidence: number | null;
  /** Numbers of observations of its run. */
  readonly observations: readonly number[];
  readonly alternatives: readonly (Alternative & { readonly ruled_out: boolean })[];
}

/** Tells an incident from its facts. */
export function tellStory(facts: PostmortemFacts): Story {
  const { events, observations, dependants, repairs } = facts;
  const runs = [...observations.values()];
  return {
    events: events.map((event) => ({
      at: event.at,
      kind: event.kind,
      phase: event.phase ?? null,
      says: compose(describeEvent(event, facts)),
      receipt_id: textOf(event.data.receipt_id),
      approval_id: textOf(event.data.approval_id),
    })),
    causes: readDiagnoses(facts).map((one) => toCause(one, runs)),
    observations: runs.flatMap((seen, n) => seen.map((one) => ({ ...one, run: n + 1 }))),
    dependants: dependants ?? null,
    approvals: listApprovals(facts),
    repairs,
    done: compose(formatActions(facts)),
  };
}

function toCause(
  { at, round, symptom, cause, data, observations }: DiagnosisEvent,
  runs: readonly (readonly NumberedObservation[])[],
): StoryCause {
  const { cause_says, cause_confidence, observations: numbers, alternatives } = data;
  return {
    at,
    run: runs.indexOf(observations) + 1,
    round,
    symptom,
    cause,
    says: textOf(cause_says),
    confidence: typeof cause_confidence === "number" ? cause_confidence : null,
    observations: Array.isArray(numbers) ? numbers : [],
    alternatives: (Array.isArray(alternatives) ? alternatives as Alternative[] : [])
      .map((one) => ({ ...one, ruled_out: !WEAKER.test(one.because) })),
  };
}

/** Returns the approvals that the incident waited for, each as it stood after its last move. */
function listApprovals({ events, moves }: PostmortemFacts): Story["approvals"] {
  const found = new Map<string, string>();
  for (const { data } of events) {
    const id = textOf(data.approval_id);
    if (id) found.set(id, moveOf(data, moves)?.status ?? found.get(id) ?? "pending");
  }
  return [...found].map(([approval_id, status]) => ({ approval_id, status }));
}

const textOf = (value: unknown) => typeof value === "string" ? value : null;
