import type { Retrieved, Source } from "./reasoning.ts";
import type { Authorship, Claim, Evidence } from "./writing.ts";

/** Who looks at an incident, the verifier last. */
export const AGENTS = ["triage", "logs", "metrics", "topology", "change", "verifier"] as const;

/** One of {@linkcode AGENTS}. */
export type AgentName = typeof AGENTS[number];

/** What the crew is asked to diagnose. */
export interface CrewRequest {
  /** In any words, 1 to 8,000 characters. */
  readonly incident: string;
  /** Key that asked. */
  readonly requested_by: string;
}

/** What is looked at. */
export interface Scene {
  readonly incident: string;
  /** Services that are looked at now. */
  readonly services: readonly string[];
  /** From 1. The second round looks at what the verifier named. */
  readonly round: number;
}

/** A service that an agent holds for the cause. */
export interface Suspect {
  readonly service: string;
  /** 0 to 1; the agents' together decide. */
  readonly weight: number;
  readonly why: string;
}

/** What one agent found in a round. */
export interface AgentReport {
  readonly agent: AgentName;
  readonly round: number;
  /** Sentences, each true by what was read; empty: it found nothing. */
  readonly says: readonly string[];
  readonly sources: readonly Source[];
  readonly suspects: readonly Suspect[];
}

/** What triage found besides. */
export interface Triage extends AgentReport {
  readonly services: readonly string[];
  readonly classification: Retrieved["classification"];
}

/** The verifier's word. */
export interface Verification extends AgentReport {
  /** What speaks against the others' findings; empty: they hold. */
  readonly objections: readonly string[];
  /** Services that have to be looked at before anything can be said. */
  readonly look_at: readonly string[];
}

/** One diagnosis, with what it rests on. */
export interface CrewResult extends Authorship {
  readonly diagnosis: string;
  /** The service that is held for the cause; null: none can be named. */
  readonly cause: string | null;
  /** 0 to 1: how much of what was found speaks for it. */
  readonly confidence: number;
  readonly category: string | null;
  readonly severity: string | null;
  readonly recommended_action: string | null;
  /** What led to it, where a model wrote it. */
  readonly steps: readonly Claim[];
  /** What the numbers in the diagnosis and its steps name; empty where the rules wrote it. */
  readonly evidence: readonly Evidence[];
  readonly citations: readonly Source[];
  readonly objections: readonly string[];
  readonly agents: readonly AgentReport[];
}
