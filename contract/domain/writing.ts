/** A piece of evidence that a model may cite. */
export interface Evidence {
  /** Number by which it is cited, from 1. */
  readonly n: number;
  /** Finder: an agent, or a tool. */
  readonly from: string;
  readonly text: string;
}

/** A sentence with the numbers of the evidence that it cites. */
export interface Claim {
  readonly text: string;
  readonly evidence: readonly number[];
}

/** Text of a model, before review. */
export interface Draft<T> {
  /** Null: it wrote nothing usable, or no model is configured. */
  readonly content: T | null;
  /** Null: no model is configured. */
  readonly provider: string | null;
  readonly model: string | null;
  /** True: the model was called, which costs. */
  readonly asked: boolean;
  /** Reason that it wrote nothing. */
  readonly reason: string | null;
}

/** The rules' review of a draft. */
export interface Review<T> {
  /** Part that holds; null: too little. */
  readonly kept: T | null;
  /** Sentences that name, but do not quote, what was written. */
  readonly objections: readonly string[];
}

/** Author of a result. */
export interface Authorship {
  /** The model's name at its provider, or `rules`. */
  readonly written_by: string;
  /** `anthropic`, `openai` or `ollama`; `local`: the rules. */
  readonly provider: string;
  /** Calls of a model, 0 to 2. */
  readonly model_calls: number;
  /** The verifier's objections to text of a model that was dropped. */
  readonly dropped: readonly string[];
  /** Reason that the rules wrote it although a model is configured; null: the model wrote it, or none is configured. */
  readonly fallback: string | null;
}

/** A request to a model to write a diagnosis, and the data for its review. */
export interface DiagnosisRequest {
  readonly incident: string;
  readonly evidence: readonly Evidence[];
  /** Support for each suspected service, -1 to 1. */
  readonly support: Readonly<Record<string, number>>;
  /** Services that were examined. */
  readonly services: readonly string[];
}

/** A model's diagnosis. */
export interface DiagnosisDraft {
  /** `(none)`: it names none. */
  readonly cause: string;
  readonly confidence: number;
  readonly diagnosis: Claim;
  readonly steps: readonly Claim[];
}

/** A diagnosis after review. */
export interface ReviewedDiagnosis {
  readonly cause: string | null;
  /** Limited to what the rules support. */
  readonly confidence: number;
  readonly diagnosis: Claim;
  readonly steps: readonly Claim[];
}

/** A request to a model to write an answer. */
export interface AnswerRequest {
  readonly prompt: string;
  readonly evidence: readonly Evidence[];
}

/** A model's answer. */
export interface AnswerDraft {
  readonly claims: readonly Claim[];
}
