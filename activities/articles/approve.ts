import { hasApproved, putQuestion, type StoredQuestion } from "../../calls/approvals/mod.ts";
import { mayStillAct } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import type { DeployTarget } from "../../contract/domain/mod.ts";
import { groundsOf } from "../../contract/records/mod.ts";
import { articleUrl, siteTarget, toMarkdown } from "../../operations/articles/writing/mod.ts";
import type { Db } from "../../store/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import { type ArticleRecord, moveArticle, noteArticleStep } from "../../store/articles/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { type ArticleRunOrder, isStopped, lockRequiredArticle, siteOf } from "./_article.ts";

/** Creates the activities by which people decide about an article. */
export function approveArticleActivities(parts: ActivityParts) {
  const { store, config } = parts;
  const { db } = store;

  /** Stores what people are asked: exactly this page. Safe to repeat: the article names its approval. */
  async function askAboutArticle({ article_id }: ArticleRunOrder): Promise<StoredQuestion> {
    return await db.transaction(async (trx) => await askAbout(trx, article_id));
  }

  async function askAbout(trx: Db, article_id: string): Promise<StoredQuestion> {
    const article = await lockRequiredArticle(trx, article_id);
    const approvalId = article_id.replace(/^ART/, "APR");
    const isMoved = await moveArticle(trx, article_id, ["review"], { approvalId });
    if (!isMoved) {
      throw new Problem("Conflict", `Cannot ask about ${article_id}: it is ${article.state}`);
    }
    return await putQuestion(trx, config, {
      id: approvalId,
      subject: article_id,
      description: `Publish “${article.title}”`,
      action: actionOf(article),
      grounds: groundsOf({
        rule: "articles",
        reasons: ["A person reads each article before it is published"],
        evidence: article.source.kind === "ticket"
          ? [{ kind: "ticket", id: article.source.id }]
          : [],
      }),
      requestedBy: article.requestedBy,
      requestedByKey: article.requestedByKey,
    });
  }

  /**
   * Takes over what people have decided: the database says what. While a stop applies, what they have approved is not
   * published. Safe to repeat.
   *
   * @returns `target`: where it is to be deployed
   */
  async function decideArticle(
    { article_id }: ArticleRunOrder,
  ): Promise<{ readonly approved: boolean; readonly target: DeployTarget }> {
    const target = siteTarget(store.tenant, config.settings);
    return await db.transaction(async (trx) => {
      const article = await lockRequiredArticle(trx, article_id);
      if (article.state !== "review") return { approved: article.state === "approved", target };
      const approval = await getApproval(trx, article.approvalId!);
      const isApproved = hasApproved(approval, actionOf(article)) &&
        await mayStillAct(trx, article.requestedByKey);
      const isHeld = isApproved && await isStopped(trx, article);
      const state = isHeld ? "not_published" : isApproved ? "approved" : "denied";
      await moveArticle(trx, article_id, ["review"], { state });
      await noteArticleStep(
        trx,
        article_id,
        "approve",
        isHeld ? "stopped" : approval?.status ?? "gone",
      );
      return { approved: state === "approved", target };
    });
  }

  /** Returns the action that people decide about: this page, by its hash, with its text. */
  function actionOf(article: ArticleRecord) {
    return {
      publish: "article",
      article_id: article.id,
      url: articleUrl(siteOf(parts).siteUrl, article.slug!),
      page_sha256: article.pageSha256,
      title: article.title,
      text: toMarkdown(article.content!),
    };
  }

  return { askAboutArticle, decideArticle };
}
