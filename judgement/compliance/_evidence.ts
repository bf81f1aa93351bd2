import type { Facts } from "./facts.ts";

/** State of a piece of evidence: it is complete, partial, absent, or nothing is configured that could give it. */
export type EvidenceState = "met" | "partly" | "missing" | "not_configured";

/** Result of looking for a piece of evidence. */
export interface EvidenceResult {
  readonly state: EvidenceState;
  /** One sentence with the facts. */
  readonly because: string;
}

/** A piece of evidence, and the risk without it. */
export interface Evidence {
  readonly about: string;
  find(facts: Facts): EvidenceResult;
  /** Categories of the receipts that prove it. */
  readonly receipts: readonly string[];
  readonly risk: {
    readonly title: string;
    readonly impact: "low" | "medium" | "high";
    readonly treatment: string;
  };
}

/** Returns that evidence is complete. */
export function met(because: string): EvidenceResult {
  return { state: "met", because };
}

/** Returns that evidence is partial. */
export function partly(because: string): EvidenceResult {
  return { state: "partly", because };
}

/** Returns that evidence is absent. */
export function missing(because: string): EvidenceResult {
  return { state: "missing", because };
}

/** Formats a number of things: `1 key`, `2 keys`. */
export function plural(n: number, singular: string, plural = `${singular}s`): string {
  return `${n} ${n === 1 ? singular : plural}`;
}

/** Returns a share from 0 to 1; 0 of nothing. */
export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
