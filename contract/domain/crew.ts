import type { Text } from "./composed.ts";
import type { AgentName } from "./agents.ts";
import type { NumberedObservation } from "./observations.ts";
import type { Retrieved, Source } from "./reasoning.ts";
import type { Alternative } from "./repairs.ts";
import type { Authorship, Claim, Evidence } from "./writing.ts";

/** A request to diagnose an incident. */
export interface CrewRequest {
  /** Free text, 1 to 8,000 characters. */
  readonly incident: string;
  /** Requesting key. */
  readonly requested_by: string;
}

/** Scope of one round. */
export interface CrewScope {
  readonly incident: string;
  /** Services to examine in this round. */
  readonly services: readonly string[];
  /** From 1. The second round examines what the verifier named. */
  readonly round: number;
}

/** Observations of a service that has a fault, and the cause that they name. */
export interface Examination {
  readonly service: string;
  /** Incident whose collection it is, as its loop has looked; null: the crew has looked now. */
  readonly ticket_id: string | null;
  /** Code of the failed check, or of the finding. It is no cause. */
  readonly symptom: string;
  /** Null: what was observed names none. */
  readonly cause: string | null;
  /** The same, a sentence for people. */
  readonly says: Text;
  /** Likelihood that the cause is right, 0 to 1; 0 where none is named. */
  readonly cause_confidence: number;
  /** Kind of the cause; null: none is named. */
  readonly category: string | null;
  /** Numbers of the observations that name the cause. */
  readonly observations: readonly number[];
  readonly alternatives: readonly Alternative[];
  /** Observations. */
  readonly seen: readonly SeenFact[];
}

/** An observation, without its words. */
interface SeenFact {
  readonly number: number;
  readonly source: NumberedObservation["source"];
  readonly code: string;
  readonly says: Text;
}

/** A service that an agent takes for the cause. */
export interface Suspect {
  readonly service: string;
  /** -1 to 1, below 0 against it; weights of several agents are combined. */
  readonly weight: number;
  readonly why: Text;
}

/** Report of one agent in one round. */
export interface AgentReport {
  readonly agent: AgentName;
  readonly round: number;
  /** Sentences, each supported by what was read; empty: it found nothing. */
  readonly says: readonly Text[];
  readonly sources: readonly Source[];
  readonly suspects: readonly Suspect[];
}

/** Triage's report. */
export interface Triage extends AgentReport {
  readonly services: readonly string[];
  readonly classification: Retrieved["classification"];
}

/** The verifier's report. */
export interface Verification extends AgentReport {
  /** Objections to the other reports; empty: none. */
  readonly objections: readonly Text[];
  /** Services that have to be examined before a diagnosis. */
  readonly look_at: readonly string[];
}

/** Result of a crew: one diagnosis with its evidence. */
export interface CrewResult extends Authorship {
  readonly diagnosis: string;
  /** Service that is taken for the cause; null: none can be named. */
  readonly cause: string | null;
  /** 0 to 1: how much of the evidence supports it. */
  readonly confidence: number;
  readonly category: string | null;
  readonly severity: string | null;
  readonly recommended_action: string | null;
  /** Steps that led to the cause, where a model wrote the diagnosis. */
  readonly steps: readonly Claim[];
  /** Evidence that the diagnosis and its steps cite by number; empty where the rules wrote it. */
  readonly evidence: readonly Evidence[];
  readonly citations: readonly Source[];
  readonly objections: readonly Text[];
  /** Services that have a fault, with what was observed there. */
  readonly examined: readonly Examination[];
  readonly agents: readonly AgentReport[];
}
