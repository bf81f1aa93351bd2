import type { Authorship, Claim, Evidence } from "./writing.ts";

/** The nodes of the pipeline, in their order. */
export const NODES = ["intake", "safety", "retrieve", "plan", "act", "verify", "answer"] as const;

/** A node of the pipeline. */
export type NodeName = typeof NODES[number];

/** What is asked of the pipeline. */
export interface ReasoningRequest {
  /** In any words, 1 to 8,000 characters. */
  readonly prompt: string;
  /** Key that asked, or the task that it is asked for. */
  readonly requested_by: string;
}

/** How a node went. */
export interface NodeRecord {
  readonly node: NodeName;
  /** `skipped`: an earlier node has said that there is nothing for it to do. */
  readonly state: "done" | "skipped" | "failed";
  /** That it took, ≥ 0. */
  readonly seconds: number;
  /** In a sentence, what it found. */
  readonly found: string;
}

/** What a prompt is about, as far as its words say. */
export interface Intake {
  /** `unclear`: it names nothing that this platform knows, and says of nothing that it fails. */
  readonly kind: "incident" | "question" | "unclear";
  readonly services: readonly string[];
  readonly tickets: readonly string[];
  readonly receipts: readonly string[];
  readonly topics: readonly Topic[];
}

/** What of the platform can be asked about. */
export const TOPICS = [
  "status",
  "incidents",
  "approvals",
  "ledger",
  "services",
  "repairs",
] as const;

/** One of {@linkcode TOPICS}. */
export type Topic = typeof TOPICS[number];

/** The guardrails' word on the prompt. */
export interface Safety {
  readonly passed: boolean;
  readonly reasons: readonly string[];
}

/** What is known of such faults. */
export interface Retrieved {
  /** Null: the engine is away. */
  readonly classification: {
    readonly category: string;
    readonly severity: string;
    readonly confidence: number;
    readonly recommended_action: string;
  } | null;
  /** Who judged: local, or a model's provider; null: the engine is away. */
  readonly provider: string | null;
  readonly articles: readonly Source[];
}

/** What is to be looked at. */
export interface Plan {
  readonly kind: Intake["kind"];
  readonly looks: readonly Look[];
}

/** A read-only tool that is asked, and with what. */
export interface Look {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string>>;
}

/** What a look gave. */
export interface Seen {
  readonly look: Look;
  /** Sentences for people, each true by what was read; empty: there is nothing. */
  readonly says: readonly string[];
  readonly sources: readonly Source[];
  /** What was read, in ids, codes and counts. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** What an answer rests on. */
export interface Source {
  readonly id: string;
  readonly kind:
    | "article"
    | "incident"
    | "ticket"
    | "receipt"
    | "service"
    | "approval"
    | "platform";
  readonly title: string;
  /** Of the text or entry that is cited, where it has one. */
  readonly sha256?: string;
}

/** What was wrong with what the looks gave. */
export interface Objections {
  readonly holds: boolean;
  readonly objections: readonly string[];
}

/** What the pipeline gives. */
export interface ReasoningResult extends Authorship {
  /** `refused`: by the guardrails; `input_required`: the prompt does not say what it is about. */
  readonly outcome: "answered" | "refused" | "input_required";
  readonly answer: string;
  readonly citations: readonly Source[];
  readonly steps: readonly NodeRecord[];
}

/** What an answer is put together from. */
export interface Found {
  readonly plan: Plan;
  readonly retrieved: Retrieved;
  readonly seen: readonly Seen[];
  readonly objections: Objections;
  /** What a model wrote of it that holds; absent: the rules put it in words. */
  readonly written?: { readonly claims: readonly Claim[]; readonly evidence: readonly Evidence[] };
}

/** A choice of a model's, of what to look at. */
export interface DraftedPlan {
  readonly looks: readonly Look[];
}
