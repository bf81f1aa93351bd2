/** How far a measurement is off what is usual for its service. */
export interface Deviation {
  /** Only measurements of one kind are compared. */
  readonly kind: "latency" | "errors";
  /** Loss of its requests beyond the usual, all together: seconds, or failed requests. */
  readonly excess: number;
  /** How often the usual spread it is off. */
  readonly score: number;
}

/** A measurement beside the past of the same service. */
export interface Measurement extends Pick<Deviation, "kind"> {
  /** Seconds that a request takes, or number of failed requests. */
  readonly value: number;
  /** The same in the past. */
  readonly usual: number;
  /** By how much it was usually off that. */
  readonly spread: number;
  /** Requests that a latency was measured over. Default: 1. */
  readonly requests?: number;
}

/** From this score on, a measurement is unusual. */
const MIN_SCORE = 3;
/** Least spread of a latency, as a share of what is usual: a past without any change says little. */
const MIN_LATENCY_SPREAD = 0.02;
/** Least spread of errors: one failed request. */
const MIN_ERROR_SPREAD = 1;
/** A measurement explains others whose requests lost at most twice as much. */
const MIN_EXPLAINED_SHARE = 0.5;

/** Returns how far a measurement is off. */
export function measureDeviation(
  { kind, value, usual, spread, requests = 1 }: Measurement,
): Deviation {
  const excess = value - usual;
  const least = kind === "latency" ? MIN_LATENCY_SPREAD * usual : MIN_ERROR_SPREAD;
  const score = excess === 0 ? 0 : excess / Math.max(spread, least);
  return { kind, excess: kind === "latency" ? excess * requests : excess, score };
}

/** Returns whether a measurement is worth a finding. */
export function isUnusual({ score }: Deviation): boolean {
  return score >= MIN_SCORE;
}

/** Returns whether what a service lost explains what those that need it lost. */
export function explainsDeviation(cause: Deviation, effect: Deviation): boolean {
  return cause.kind === effect.kind && cause.excess >= MIN_EXPLAINED_SHARE * effect.excess;
}

/** Returns how much a deviation weighs among others of its kind: it counts by its size and by how unusual it is. */
export function weighDeviation({ excess, score }: Deviation): number {
  return Math.max(excess, 0) * Math.max(score, 0);
}
