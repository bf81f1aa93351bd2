import type { IncidentPicture } from "./timeline.ts";
import type { Authorship } from "./writing.ts";

/** Kinds of what an article is written from. All are the platform's own. */
export const ARTICLE_SOURCES = ["ticket", "knowledge", "transcript", "period"] as const;

/** The thing that an article is written from. */
export interface ArticleSource {
  readonly kind: typeof ARTICLE_SOURCES[number];
  /** Id of a ticket, a passage of the knowledge base or a transcript; of a period a day, a month, or two days with `/`. */
  readonly id: string;
}

/** States of an article. */
export const ARTICLE_STATES = [
  "writing",
  "refused",
  "review",
  "denied",
  "approved",
  "published",
  "not_published",
  "unknown",
  "erased",
] as const;

/** State of an article. */
export type ArticleState = typeof ARTICLE_STATES[number];

/** Steps of the workflow that writes an article, in order. */
export const ARTICLE_STEPS = [
  "facts",
  "outline",
  "write",
  "redact",
  "check",
  "approve",
  "deploy",
  "compare",
  "seal",
] as const;

/** Name of a step. */
export type ArticleStep = typeof ARTICLE_STEPS[number];

/** Places to which articles are deployed. */
export const DEPLOY_TARGETS = ["folder", "git"] as const;

/** Place to which an article is deployed. */
export type DeployTarget = typeof DEPLOY_TARGETS[number];

/** A fact that an article may state, with its source. */
export interface ArticleFact {
  /** Number by which sentences cite it, from 1. */
  readonly n: number;
  /** Where it comes from, such as `ticket` or `runbook`. */
  readonly from: string;
  readonly text: string;
  /** True: a text that ships with the product, which names nobody. */
  readonly shipped: boolean;
}

/** A sentence with the facts that it rests on. */
export interface ArticleSentence {
  /** Plain text; code stands between backticks. */
  readonly text: string;
  readonly facts: readonly number[];
}

/** A paragraph, or a list of which each sentence is an entry. */
export interface ArticleBlock {
  readonly kind: "paragraph" | "list" | "steps";
  readonly sentences: readonly ArticleSentence[];
}

/** A section; the first one has no heading. */
export interface ArticleSection {
  readonly heading: string | null;
  readonly blocks: readonly ArticleBlock[];
}

/** Text of an article. */
export interface ArticleText {
  readonly title: string;
  readonly description: string;
  readonly sections: readonly ArticleSection[];
  /** Receipts that prove what it says. */
  readonly receipts: readonly { readonly id: string; readonly what: string }[];
  /** Of an incident: its picture. */
  readonly incident?: IncidentPicture;
}

/** Result of one check of an article. */
export interface ArticleCheck {
  readonly check: string;
  readonly passed: boolean;
  /** The result in words, for people. */
  readonly about: string;
}

/** An order about one article. */
export interface ArticleOrder {
  readonly article_id: string;
}

/** An order to deploy one article. */
export interface ArticleDeployOrder extends ArticleOrder {
  readonly target: DeployTarget;
}

/** Result of the workflow of an article. */
export interface ArticleResult extends ArticleOrder {
  readonly state: ArticleState;
  readonly receipt_id: string;
}

/** Who wrote the story of an article; see {@linkcode Authorship}. */
export type ArticleAuthorship = Pick<
  Authorship,
  "written_by" | "provider" | "dropped" | "fallback"
>;

/** Returns the id of the workflow that writes an article. */
export function articleWorkflowId(articleId: string): string {
  return articleId.replace(/^ART-/, "seo-");
}

/** Returns the id of the workflow that deploys an article that was published before. */
export function articleDeployWorkflowId(articleId: string): string {
  return articleId.replace(/^ART-/, "seo-deploy-");
}
