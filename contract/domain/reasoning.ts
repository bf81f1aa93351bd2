import type { Text } from "./composed.ts";
import type { AgentName } from "./agents.ts";
import type { Authorship, Claim, Evidence } from "./writing.ts";

/** The nodes of the pipeline, in their order. */
export const NODES = ["intake", "safety", "retrieve", "plan", "act", "verify", "answer"] as const;

/** A node of the pipeline. */
export type NodeName = typeof NODES[number];

/** A request to the reasoning pipeline. */
export interface ReasoningRequest {
  /** Free text, 1 to 8,000 characters. */
  readonly prompt: string;
  /** Requesting key, or the A2A task. */
  readonly requested_by: string;
  /** Agent of the crew that is asked: it examines what the prompt names. Absent: the pipeline's own lookups. */
  readonly agent?: AgentName;
}

/** Record of one node. */
export interface NodeRecord {
  readonly node: NodeName;
  /** `skipped`: an earlier node left it nothing to do. */
  readonly state: "done" | "skipped" | "failed";
  /** Duration, ≥ 0. */
  readonly seconds: number;
  /** Result, a sentence. */
  readonly found: string;
}

/** Subjects that a prompt names. */
export interface Intake {
  /** `unclear`: it names nothing that this platform knows, and reports no failure. */
  readonly kind: "incident" | "question" | "unclear";
  readonly services: readonly string[];
  readonly tickets: readonly string[];
  readonly receipts: readonly string[];
  readonly topics: readonly Topic[];
  /** Subject of a question that the platform keeps no record of: orders, customers; absent: none. */
  readonly beyond?: string;
}

/** Topics of the platform that a prompt may ask about. */
const TOPICS = [
  "status",
  "incidents",
  "approvals",
  "ledger",
  "services",
  "repairs",
  "figures",
] as const;

/** One of {@linkcode TOPICS}. */
export type Topic = typeof TOPICS[number];

/** The guardrails' verdict on the prompt. */
export interface Safety {
  readonly passed: boolean;
  readonly reasons: readonly string[];
}

/** Classification of the prompt and articles about such faults. */
export interface Retrieved {
  /** Null: the engine is away. */
  readonly classification: {
    readonly category: string;
    readonly severity: string;
    readonly confidence: number;
    readonly recommended_action: string;
  } | null;
  /** Classifier: `local`, or a model's provider; null: the engine is away. */
  readonly provider: string | null;
  readonly articles: readonly Source[];
}

/** Lookups to make. */
export interface Plan {
  readonly kind: Intake["kind"];
  readonly lookups: readonly Lookup[];
}

/** A call of a read-only tool. */
export interface Lookup {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string>>;
}

/** Result of a lookup. */
export interface LookupResult {
  readonly lookup: Lookup;
  /** Sentences for people, each supported by what was read; empty: nothing was found. */
  readonly says: readonly Text[];
  readonly sources: readonly Source[];
  /** Ids, codes and counts that were read. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A source that an answer cites. */
export interface Source {
  readonly id: string;
  readonly kind:
    | "article"
    | "incident"
    | "ticket"
    | "receipt"
    | "service"
    | "approval"
    | "note"
    | "platform";
  readonly title: string;
  /** SHA-256 of the cited text or entry, where it has one. */
  readonly sha256?: string;
}

/** The source of sentences about the whole platform. */
export const PLATFORM_SOURCE: Source = {
  id: "platform",
  kind: "platform",
  title: "The platform's own records",
};

/** The verifier's objections to the lookups. */
export interface Objections {
  readonly holds: boolean;
  readonly objections: readonly Text[];
}

/** Result of the pipeline. */
export interface ReasoningResult extends Authorship {
  /** `refused`: by the guardrails; `input_required`: the prompt is unclear. */
  readonly outcome: "answered" | "refused" | "input_required";
  readonly answer: string;
  readonly citations: readonly Source[];
  readonly steps: readonly NodeRecord[];
}

/** Input of the node that writes the answer. */
export interface AnswerInput {
  readonly plan: Plan;
  readonly retrieved: Retrieved;
  readonly results: readonly LookupResult[];
  readonly objections: Objections;
  /** Reviewed text of a model; absent: the rules write the answer. */
  readonly draft?: { readonly claims: readonly Claim[]; readonly evidence: readonly Evidence[] };
}

/** A model's choice of lookups. */
export interface PlanDraft {
  readonly lookups: readonly Lookup[];
}
