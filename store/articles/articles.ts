import type {
  ArticleAuthorship,
  ArticleCheck,
  ArticleFact,
  ArticleSource,
  ArticleState,
  ArticleStep,
  ArticleText,
  DeployTarget,
} from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";

/** A step of an article that is over. */
interface ArticleStepRecord {
  readonly step: ArticleStep;
  readonly state: string;
  /** ISO 8601. */
  readonly at: string;
}

/** The last deployment of an article. */
export interface ArticleDeploy {
  readonly target: DeployTarget;
  readonly state: "intended" | "done" | "not_done" | "unknown";
  /** Of one that is intended: `intended`, or `looked` once somebody has looked, after which its attempt acts no more. */
  readonly code: string;
  readonly url: string;
  readonly at: string;
  readonly receipt_id: string;
}

/** An article. */
export interface ArticleRecord {
  /** `ART-` and 12 hex characters. */
  readonly id: string;
  readonly source: ArticleSource;
  readonly keyword: string | null;
  readonly state: ArticleState;
  readonly steps: readonly ArticleStepRecord[];
  readonly slug: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly facts: readonly ArticleFact[];
  readonly content: ArticleText | null;
  readonly authorship: ArticleAuthorship | null;
  readonly words: number | null;
  /** HTML. */
  readonly page: string | null;
  readonly pageSha256: string | null;
  readonly pageSalt: Buffer | null;
  readonly checks: readonly ArticleCheck[] | null;
  readonly approvalId: string | null;
  readonly deploy: ArticleDeploy | null;
  readonly pageReceiptId: string;
  readonly receiptId: string | null;
  readonly requestedBy: string;
  readonly requestedByKey: string | null;
  readonly createdAt: string;
  readonly publishedAt: string | null;
}

/** An article to write. */
export interface NewArticle {
  readonly id: string;
  readonly source: ArticleSource;
  readonly keyword: string | null;
  readonly slug: string | null;
  readonly pageReceiptId: string;
  readonly requestedBy: string;
  readonly requestedByKey: string | null;
}

/** Adds an article that is to be written. The same id again changes nothing. @returns true where it is new */
export async function addArticle(trx: Db, article: NewArticle): Promise<boolean> {
  const { id, source, keyword, slug, pageReceiptId, requestedBy, requestedByKey } = article;
  const added = await trx.execute(
    `INSERT INTO articles (id, source_kind, source_id, keyword, slug, page_receipt_id, requested_by, requested_by_key)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
    [id, source.kind, source.id, keyword, slug, pageReceiptId, requestedBy, requestedByKey],
  );
  return added > 0;
}

/** Deletes an article whose run never began; its item is an idea again. @returns false where it has begun */
export async function dropArticle(db: Db, id: string): Promise<boolean> {
  const dropped = await db.query(
    `WITH dropped AS (DELETE FROM articles WHERE id = $1 AND steps = '[]' RETURNING id),
       freed AS (UPDATE pipeline_items i SET stage = 'idea', article_id = NULL FROM dropped
         WHERE i.article_id = dropped.id)
     SELECT id FROM dropped`,
    [id],
  );
  return dropped.length > 0;
}

/** Returns an article, or undefined. */
export async function getArticle(db: Db, id: string): Promise<ArticleRecord | undefined> {
  const row = await db.first("SELECT * FROM articles WHERE id = $1", [id]);
  return row && toArticle(row);
}

/** Returns an article and locks it until the transaction ends, or undefined. */
export async function lockArticle(trx: Db, id: string): Promise<ArticleRecord | undefined> {
  const row = await trx.first("SELECT * FROM articles WHERE id = $1 FOR UPDATE", [id]);
  return row && toArticle(row);
}

/** Text of an article, with the facts that it cites, and who wrote it. */
export interface ArticleDraft {
  readonly facts: readonly ArticleFact[];
  readonly content: ArticleText;
  readonly authorship: ArticleAuthorship;
}

/** Writes the text of an article as long as it has no page, so that a late attempt puts nothing back that was taken out. */
export async function setArticleText(
  db: Db,
  id: string,
  { facts, content, authorship }: ArticleDraft,
): Promise<void> {
  await db.execute(
    `UPDATE articles SET facts = $2, content = $3, authorship = $4, title = $5, description = $6
     WHERE id = $1 AND state = 'writing' AND page IS NULL`,
    [
      id,
      JSON.stringify(facts),
      JSON.stringify(content),
      JSON.stringify(authorship),
      content.title,
      content.description,
    ],
  );
}

/** A page as it was made of an article. */
export interface ArticlePage {
  readonly slug: string;
  readonly page: string;
  readonly sha256: string;
  readonly salt: Buffer;
  readonly words: number;
}

/** Writes the page of an article and the text that it has. The first page stays. */
export async function setArticlePage(
  db: Db,
  id: string,
  { facts, content, authorship, slug, page, sha256, salt, words }: ArticleDraft & ArticlePage,
): Promise<void> {
  await db.execute(
    `UPDATE articles SET facts = $2, content = $3, authorship = $4, title = $5, description = $6,
       slug = $7, page = $8, page_sha256 = $9, page_salt = $10, words = $11
     WHERE id = $1 AND state = 'writing' AND page IS NULL`,
    [
      id,
      JSON.stringify(facts),
      JSON.stringify(content),
      JSON.stringify(authorship),
      content.title,
      content.description,
      slug,
      page,
      sha256,
      salt,
      words,
    ],
  );
}

/** Writes the results of the checks of an article, as long as it is being written. */
export async function setArticleChecks(
  db: Db,
  id: string,
  checks: readonly ArticleCheck[],
): Promise<void> {
  await db.execute("UPDATE articles SET checks = $2 WHERE id = $1 AND state = 'writing'", [
    id,
    JSON.stringify(checks),
  ]);
}

/** A move of an article. Fields that are left out stay. */
export interface ArticleMove {
  readonly state?: ArticleState;
  readonly approvalId?: string;
  readonly deploy?: ArticleDeploy;
  readonly receiptId?: string;
}

/**
 * Moves an article, where it is in one of these states. The moment at which it is first published stays.
 *
 * @returns false where it is in another state
 */
export async function moveArticle(
  trx: Db,
  id: string,
  from: readonly ArticleState[],
  { state, approvalId, deploy, receiptId }: ArticleMove,
): Promise<boolean> {
  const moved = await trx.execute(
    `UPDATE articles SET state = coalesce($3, state), approval_id = coalesce($4, approval_id),
       deploy = coalesce($5, deploy), receipt_id = coalesce($6, receipt_id),
       published_at = CASE WHEN $3 = 'published' THEN coalesce(published_at, clock_timestamp()) ELSE published_at END
     WHERE id = $1 AND state = ANY ($2)`,
    [id, from, state, approvalId, deploy && JSON.stringify(deploy), receiptId],
  );
  return moved > 0;
}

/** Notes that a step of an article is over. The same step again replaces what was noted. */
export async function noteArticleStep(
  db: Db,
  id: string,
  step: ArticleStep,
  state: string,
): Promise<void> {
  await db.execute(
    `UPDATE articles SET steps = coalesce((
       SELECT jsonb_agg(s ORDER BY n) FROM jsonb_array_elements(steps) WITH ORDINALITY AS e (s, n) WHERE s ->> 'step' <> $2), '[]')
       || jsonb_build_array(jsonb_build_object('step', $2::text, 'state', $3::text, 'at', clock_timestamp()))
     WHERE id = $1`,
    [id, step, state],
  );
}

/** Returns true if another article that is published, or may be yet, has this slug. */
export async function isSlugTaken(db: Db, slug: string, id: string): Promise<boolean> {
  const row = await db.first(
    `SELECT FROM articles WHERE slug = $1 AND id <> $2
       AND state IN ('review', 'approved', 'published', 'not_published', 'unknown')`,
    [slug, id],
  );
  return row !== undefined;
}

/** Returns the ids and texts of other articles that are published, or about to be. */
export async function listLiveArticles(
  db: Db,
  exceptId: string,
): Promise<{ readonly id: string; readonly title: string; readonly content: ArticleText }[]> {
  return await db.query(
    `SELECT id, title, content FROM articles WHERE id <> $1 AND content IS NOT NULL
       AND state IN ('review', 'approved', 'published', 'unknown') ORDER BY created_at DESC LIMIT 500`,
    [exceptId],
  );
}

/** Returns published articles, newest first. */
export async function listPublishedArticles(
  db: Db,
  limit: number,
): Promise<{ readonly total: number; readonly articles: ArticleRecord[] }> {
  const [total, rows] = await Promise.all([
    db.first<{ total: number }>(
      "SELECT count(*)::int AS total FROM articles WHERE published_at IS NOT NULL",
    ),
    db.query(
      `SELECT * FROM articles WHERE published_at IS NOT NULL ORDER BY published_at DESC, id LIMIT $1`,
      [limit],
    ),
  ]);
  return { total: total!.total, articles: rows.map(toArticle) };
}

/** A published article, as a site needs it. */
export interface SitePageRecord {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly page: string;
  /** ISO 8601. */
  readonly publishedAt: string;
}

/**
 * Returns the pages of the other articles that a site shows, newest first: those that are published, and those whose
 * deployment to the same place is under way, which it would take off the site else.
 */
export async function listSitePages(
  db: Db,
  { target, exceptId, limit }: {
    readonly target: DeployTarget;
    readonly exceptId: string;
    readonly limit: number;
  },
): Promise<SitePageRecord[]> {
  const rows = await db.query(
    `SELECT slug, title, description, page, coalesce(published_at, now()) AS published_at FROM articles
     WHERE id <> $1 AND state IN ('approved', 'published', 'not_published', 'unknown')
       AND (published_at IS NOT NULL
         OR deploy ->> 'state' = 'intended' AND deploy ->> 'code' = 'intended' AND deploy ->> 'target' = $2)
     ORDER BY 5 DESC, id LIMIT $3`,
    [exceptId, target, limit],
  );
  return rows.map(({ published_at, ...page }) => ({
    ...page as Omit<SitePageRecord, "publishedAt">,
    publishedAt: published_at.toISOString(),
  }));
}

/** Returns the ids of articles that named an erased person, and may be on the site yet. */
export async function listErasedPages(db: Db): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    "SELECT id FROM articles WHERE state = 'erased' AND deploy IS NOT NULL ORDER BY id",
  );
  return rows.map(({ id }) => id);
}

/** Notes that an article is not on the site any more. */
export async function noteErasedPageGone(trx: Db, id: string, receiptId: string): Promise<void> {
  await trx.execute("UPDATE articles SET deploy = NULL, receipt_id = $2 WHERE id = $1", [
    id,
    receiptId,
  ]);
}

/** Counts articles by their state. */
export async function countArticles(db: Db): Promise<Readonly<Record<string, number>>> {
  const rows = await db.query<{ state: string; n: number }>(
    "SELECT state, count(*)::int AS n FROM articles GROUP BY 1 ORDER BY 1",
  );
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}

/** Locks the site of the tenant until the transaction ends, so that two deployments do not overtake each other. */
export async function lockSite(trx: Db): Promise<void> {
  await trx.query("SELECT pg_advisory_xact_lock(1936025966, hashtext(current_tenant()))");
}

function toArticle(row: Row): ArticleRecord {
  return {
    id: row.id,
    source: { kind: row.source_kind, id: row.source_id },
    keyword: row.keyword,
    state: row.state,
    steps: row.steps,
    slug: row.slug,
    title: row.title,
    description: row.description,
    facts: row.facts ?? [],
    content: row.content,
    authorship: row.authorship,
    words: row.words,
    page: row.page,
    pageSha256: row.page_sha256,
    pageSalt: row.page_salt,
    checks: row.checks,
    approvalId: row.approval_id,
    deploy: row.deploy,
    pageReceiptId: row.page_receipt_id,
    receiptId: row.receipt_id,
    requestedBy: row.requested_by,
    requestedByKey: row.requested_by_key,
    createdAt: row.created_at.toISOString(),
    publishedAt: row.published_at?.toISOString() ?? null,
  };
}
