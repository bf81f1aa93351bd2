import { hash } from "node:crypto";
import { hasApproved } from "../../calls/approvals/mod.ts";
import { Problem } from "../../contract/mod.ts";
import type { ArticleOrder, ArticleState, RunId } from "../../contract/domain/mod.ts";
import { sitePath, siteTarget } from "../../operations/articles/writing/mod.ts";
import type { Db } from "../../store/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import { findStop } from "../../store/calls/mod.ts";
import { type ArticleRecord, getArticle, lockArticle } from "../../store/articles/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { stopSubject } from "../governance.ts";

/** An order about one article, by the run that carries it out. */
export interface ArticleRunOrder extends ArticleOrder {
  readonly run: RunId;
}

/** Returns an article. @throws {Problem} `NotFound` */
export async function requireArticle(db: Db, id: string): Promise<ArticleRecord> {
  const article = await getArticle(db, id);
  if (article) return article;
  throw new Problem("NotFound", `There is no article ${id}`);
}

/** Returns an article and locks it until the transaction ends. @throws {Problem} `NotFound` */
export async function lockRequiredArticle(trx: Db, id: string): Promise<ArticleRecord> {
  const article = await lockArticle(trx, id);
  if (article) return article;
  throw new Problem("NotFound", `There is no article ${id}`);
}

/** States of an article that people have approved. */
export const APPROVED: readonly ArticleState[] = [
  "approved",
  "published",
  "not_published",
  "unknown",
];

/** @throws {Problem} `Conflict`: people have not approved exactly this page */
export async function assertApproved(
  db: Db,
  { id, state, approvalId, page }: ArticleRecord,
): Promise<void> {
  if (!APPROVED.includes(state) || approvalId === null || page === null) {
    throw new Problem("Conflict", `Cannot deploy ${id}: it is ${state}`);
  }
  const approval = await getApproval(db, approvalId);
  const isSame = approval?.action.page_sha256 === hash("sha256", page);
  if (isSame && hasApproved(approval, approval.action)) return;
  throw new Problem("Conflict", `Cannot deploy ${id}: nobody has approved its page as it is now`);
}

/** Returns true while a stop keeps an article from being published. */
export async function isStopped(db: Db, article: ArticleRecord): Promise<boolean> {
  return await findStop(db, stopSubject("article", actorOf(article))) !== undefined;
}

/** Returns name and address of the tenant's site. */
export function siteOf(
  { config: { settings }, urls, store }: Pick<ActivityParts, "config" | "urls" | "store">,
) {
  const isThere = siteTarget(store.tenant, settings) === settings.SEALOOP_ARTICLES_SITE;
  const base = isThere && settings.SEALOOP_ARTICLES_URL || `${urls.gateway}/articles`;
  return {
    siteUrl: base.replace(/\/+$/, "") + sitePath(store.tenant),
    siteName: settings.SEALOOP_ARTICLES_NAME,
  };
}

/** Returns who asked for an article, as receipts name them. */
export function actorOf({ requestedByKey }: ArticleRecord): string {
  return requestedByKey === null ? "articles" : `key:${requestedByKey}`;
}
