import { z } from "zod";
import {
  ARTICLE_SOURCES,
  ARTICLE_STATES,
  ARTICLE_STEPS,
  articleWorkflowId,
  DEPLOY_TARGETS,
} from "../../contract/domain/mod.ts";
import type { ArticleRecord } from "../../store/articles/mod.ts";
import { oneLine, Sha256, Timestamp } from "../schemas/mod.ts";

/** Id of an article. */
export const ArticleId = z.string()
  .regex(/^ART-[0-9a-f]{12}$/, "Expected ART- and 12 hex characters")
  .describe("Id of the article, such as ART-5b1e09c77a42");

/** Id of the run that writes an article. */
export const SessionId = z.string()
  .regex(/^seo-[0-9a-f]{12}$/, "Expected seo- and 12 hex characters")
  .describe("Id of the run that writes the article: its workflow's id");

/** Source of an article. */
export const ArticleSource = z.object({
  kind: z.enum(ARTICLE_SOURCES).describe(
    "ticket: its post-mortem; knowledge: a passage of the knowledge base; transcript; period: the work of some days",
  ),
  id: oneLine(1, 200).describe(
    "Id of the ticket, passage or transcript; of a period a day (2026-11-23), a month (2026-11) or two days with / between",
  ),
}).meta({ id: "ArticleSource" });

/** Place to which an article is deployed. */
export const Target = z.enum(DEPLOY_TARGETS);

/** An article that is published. */
export const Article = z.object({
  article_id: ArticleId,
  title: z.string(),
  slug: z.string(),
  description: z.string(),
  words: z.number().int(),
  published_at: Timestamp,
  url: z.url(),
  sha256: Sha256.describe("Of the page's bytes; its receipt has it as `file_sha256`"),
}).meta({ id: "Article" });

/** Progress of an article. */
export const SeoStatus = z.object({
  session_id: SessionId,
  state: z.enum(ARTICLE_STATES).describe(
    "refused: it failed a check; review: it waits for a person; unknown: nobody can tell whether it was deployed; erased: it " +
      "named somebody who was erased",
  ),
  steps: z.array(z.object({ step: z.enum(ARTICLE_STEPS), state: z.string(), at: Timestamp }))
    .describe("Those that are over"),
  article_id: ArticleId,
  title: z.string().nullable(),
  written_by: z.string().nullable().describe("rules, or the model that told the story"),
  approval_id: z.string().nullable().describe("The approval that it waits for, or waited for"),
  checks: z.array(z.object({ check: z.string(), passed: z.boolean(), about: z.string() }))
    .nullable(),
  deploy: z.object({
    target: Target,
    state: z.enum(["intended", "done", "not_done", "unknown"]),
    code: z.string(),
    url: z.string(),
    at: Timestamp,
    receipt_id: z.string(),
  }).nullable().describe("The last deployment"),
  receipt_id: z.string().nullable().describe("The newest receipt"),
}).meta({ id: "SeoStatus" });

/** Returns how far an article is. */
export function toStatus(article: ArticleRecord): z.input<typeof SeoStatus> {
  const { id, state, steps, title, authorship, approvalId, checks, deploy, receiptId } = article;
  return {
    session_id: articleWorkflowId(id),
    state,
    steps: [...steps],
    article_id: id,
    title,
    written_by: authorship?.written_by ?? null,
    approval_id: approvalId,
    checks: checks && [...checks],
    deploy,
    receipt_id: receiptId,
  };
}

/** Returns a published article. */
export function toArticle(
  { id, title, slug, description, words, publishedAt, deploy, pageSha256 }: ArticleRecord,
): z.input<typeof Article> {
  return {
    article_id: id,
    title: title!,
    slug: slug!,
    description: description!,
    words: words!,
    published_at: publishedAt!,
    url: deploy!.url,
    sha256: pageSha256!,
  };
}

/** An article, in examples. */
export const exampleArticle: z.output<typeof Article> = {
  article_id: "ART-5b1e09c77a42",
  title: "A service that refused connections, healed in 0.4 seconds",
  slug: "a-service-that-refused-connections-healed-in-0-4-seconds",
  description:
    "A service refused every connection: what was measured, how it was repaired, and how to check for the same fault yourself.",
  words: 540,
  published_at: "2026-07-01T12:00:00.000Z",
  url: "http://127.0.0.1:8080/articles/a-service-that-refused-connections-healed-in-0-4-seconds/",
  sha256: "3b5d5c3712955042212316173ccf37be8001abc4a4c2a4a5f7ea5d8a3c8d2f10",
};
