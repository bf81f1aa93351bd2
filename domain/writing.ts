/** A piece of what was found, as a model is given it. */
export interface Evidence {
  /** From 1, by which it is cited. */
  readonly n: number;
  /** Who found it: an agent, or a tool. */
  readonly from: string;
  readonly text: string;
}

/** A sentence, with the numbers of what it rests on. */
export interface Claim {
  readonly text: string;
  readonly evidence: readonly number[];
}

/** What a model wrote, before anything of it is checked. */
export interface Draft<T> {
  /** Null: it wrote nothing that can be used, or none is configured. */
  readonly said: T | null;
  /** Null: none is configured. */
  readonly provider: string | null;
  readonly model: string | null;
  /** Whether it was asked, which costs. */
  readonly asked: boolean;
  /** Why it wrote nothing. */
  readonly reason: string | null;
}

/** The rules' word on it. */
export interface Judged<T> {
  /** What of it holds; null: not enough. */
  readonly kept: T | null;
  /** Sentences, with names and numbers of what was written, and no more of it. */
  readonly objections: readonly string[];
}

/** Who wrote a result. */
export interface Authorship {
  /** The model, as its provider calls it; `rules`. */
  readonly written_by: string;
  /** `anthropic`, `openai` or `ollama`; `local`: the rules. */
  readonly provider: string;
  /** Times that a model was asked to choose or write, 0 to 2. */
  readonly model_calls: number;
  /** What the verifier had against what a model wrote; of that nothing is left. */
  readonly dropped: readonly string[];
  /** Why the rules wrote it although a model was to be asked; null: it wrote, or none is configured. */
  readonly fallback: string | null;
}

/** What the crew's model is given, and is held against. */
export interface DiagnosisOrder {
  readonly incident: string;
  readonly evidence: readonly Evidence[];
  /** What was found for or against each service that is suspected, -1 to 1. */
  readonly support: Readonly<Record<string, number>>;
  /** Services that were looked at. */
  readonly services: readonly string[];
}

/** A diagnosis of a model's. */
export interface DraftedDiagnosis {
  /** `(none)`: it can name none. */
  readonly cause: string;
  readonly confidence: number;
  readonly diagnosis: Claim;
  readonly steps: readonly Claim[];
}

/** What of it holds. */
export interface KeptDiagnosis {
  readonly cause: string | null;
  /** Cut to what the rules support. */
  readonly confidence: number;
  readonly diagnosis: Claim;
  readonly steps: readonly Claim[];
}

/** What the pipeline's model is given. */
export interface AnswerOrder {
  readonly prompt: string;
  readonly evidence: readonly Evidence[];
}

/** An answer of a model's. */
export interface DraftedAnswer {
  readonly claims: readonly Claim[];
}
