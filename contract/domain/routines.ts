/** Names of the routines: short work that comes often, each in one long-lived run with the id `routine-<name>`. */
export const ROUTINES = ["sweep", "reconcile", "notices"] as const;

/** Name of a routine. */
export type RoutineName = typeof ROUTINES[number];

/** A routine and its interval. */
export interface Routine {
  readonly name: RoutineName;
  /** Seconds from one time to the next, ≥ 1. Times are multiples of it since 1970. */
  readonly every_seconds: number;
}

/** Returns the workflow id of a routine. */
export function routineId(name: RoutineName): string {
  return `routine-${name}`;
}
