import type { Text } from "./composed.ts";

/**
 * Sources of observations about a fault, in the order in which what they saw is numbered. `judgement/observation/` has what
 * each looks at.
 */
export const OBSERVERS = [
  "check",
  "output",
  "log",
  "process",
  "port",
  "storage",
  "names",
  "certificate",
  "dependencies",
  "changes",
  "unit",
  "container",
  "device",
] as const;

/** Those of {@linkcode OBSERVERS}, and steps of runbooks that look. */
export const OBSERVATION_SOURCES = [...OBSERVERS, "runbook"] as const;

/** Provider of a classification that follows from the cause that was observed, and is as sure as that. */
export const OBSERVED = "observations";

/** Name of a source of observations. */
export type ObserverName = typeof OBSERVERS[number];

/** Something that a source saw about a fault. */
export interface Observation<Said extends Text = Text> {
  /** Code of what was seen, such as `answer`; `not_had`: the source could not look, and its figure `reason` has why. */
  readonly code: string;
  /** A sentence for people. */
  readonly says: Said;
  /** Words that programs wrote, without secrets; absent: it has none. */
  readonly text?: string;
  /** Measurements, by names that rules of causes use. */
  readonly figures?: Readonly<Record<string, number | string | boolean>>;
}

/** An observation with its place in the collection. */
export interface NumberedObservation<Said extends Text = string> extends Observation<Said> {
  /** From 1, within the collections of a run. */
  readonly number: number;
  readonly round: number;
  readonly source: typeof OBSERVATION_SOURCES[number];
}
