/**
 * Articles from the platform's own records: written by rules, without private names, checked, and laid out as a site.
 *
 * ```ts
 * const text = writeTicketArticle({ ticket, events, repairs, runbooks, passage, scrubber }, book);
 * const page = renderArticle(text, context);
 * const checks = checkArticle(text, { page, … });
 * await deployFolder(folder, tenant, renderSite(pages, site), confirm, signal);
 * ```
 *
 * Doesn't trust: titles, reports and log lines. They become plain text, without names, addresses and secrets.
 * @module
 */
export { type FactBook, openFactBook } from "./_facts.ts";
export { type KnowledgePassage, readAdvice } from "./_passage.ts";
export type { TicketFacts } from "./_ticket_facts.ts";
export { checkArticle } from "./checks.ts";
export { deployFolder, readSiteFile, removeOldReleases, sitePath } from "./folder.ts";
export { deployGit, type GitTarget, readGitFile } from "./git.ts";
export { writeKnowledgeArticle } from "./knowledge_article.ts";
export {
  ARTICLE_POLICY,
  articleUrl,
  countWords,
  renderArticle,
  slugOf,
  toMarkdown,
} from "./page.ts";
export { readPeriod, writePeriodArticle } from "./period_article.ts";
export { countPost, type NetworkName, NETWORKS, type PostSource, writePost } from "./post.ts";
export { openScrubber, type Scrubber } from "./private_names.ts";
export { renderSite, siteTarget } from "./site.ts";
export { findSymptom, type Symptom } from "./symptoms.ts";
export { writeTicketArticle } from "./ticket_article.ts";
export { writeTranscriptArticle } from "./transcript_article.ts";
