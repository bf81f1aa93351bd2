import { receiptIdOf } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  type ArticleResult,
  type ArticleState,
  describeFailure,
  type RunId,
  say,
} from "../../contract/domain/mod.ts";
import { articleUrl } from "../../operations/articles/writing/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { computeCommitment, type Db } from "../../store/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import {
  type ArticleDeploy,
  type ArticleRecord,
  moveArticle,
  noteArticleStep,
} from "../../store/articles/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { actorOf, APPROVED, siteOf } from "./_article.ts";

/** End of a deployment. */
export interface DeployEnd {
  readonly state: "done" | "not_done" | "unknown";
  readonly code: string;
}

/** Returns the id of the receipt of a run's intent to deploy, by which the article knows whose deployment is open. */
export const intentOf = (run: RunId) => receiptIdOf(run, "INTENT");

/** Returns the deployment of an intent, where it has no end yet. */
export function openDeploy({ deploy }: ArticleRecord, intent: string): ArticleDeploy | undefined {
  return deploy?.state === "intended" && deploy.receipt_id === intent ? deploy : undefined;
}

/**
 * Ends the open deployment of an article, requests the receipt of that, and tells people where nobody knows the end. The
 * article is locked.
 *
 * @param receiptId of the end; the first publication has the one that its page names
 */
export async function endDeploy(
  trx: Db,
  parts: ActivityParts,
  article: ArticleRecord,
  { state, code }: DeployEnd,
  run: RunId,
  receiptId = receiptIdOf(run, "END"),
): Promise<ArticleResult> {
  const { id: article_id, deploy: intended } = article;
  if (!intended) throw new Problem("Internal", `Nothing has intended to deploy ${article_id}`);
  const { target } = intended;
  const isFirst = state === "done" && article.publishedAt === null;
  const receipt_id = isFirst ? article.pageReceiptId : receiptId;
  const after = stateAfter(article, state);
  const url = articleUrl(siteOf(parts).siteUrl, article.slug!);
  const at = new Date().toISOString();
  const deploy: ArticleDeploy = { target, state, code, url, at, receipt_id };
  await moveArticle(trx, article_id, APPROVED, { state: after, deploy, receiptId: receipt_id });
  await noteArticleStep(trx, article_id, "compare", code);
  await noteArticleStep(trx, article_id, "seal", receipt_id);
  await requestSeal(trx, {
    id: receipt_id,
    category: state === "done" ? "article_published" : "article_ended",
    actor: actorOf(article),
    subject: article_id,
    action: "articles.deploy",
    outcome: state,
    details: {
      target,
      code,
      page_commitment: commitmentOf(article),
      ...state === "done"
        ? { file_sha256: article.pageSha256, bytes: Buffer.byteLength(article.page!) }
        : {},
      ...run,
    },
    evidence: { url },
  });
  if (state === "unknown") await tellUnknown(trx, article, deploy);
  return { article_id, state: after, receipt_id };
}

/** Tells people that nobody knows how a deployment ended, and how to find out. */
async function tellUnknown(
  trx: Db,
  { id: article_id, title }: ArticleRecord,
  { target, code, url, receipt_id }: ArticleDeploy,
): Promise<void> {
  const place = target === "folder" ? url : "the site's branch in git";
  await addMessage(trx, {
    kind: "article.unknown",
    from: "articles",
    subject: say`Nobody can tell whether “${title}” was deployed`,
    text: say`What became of it at ${place} is not known (${
      describeFailure(code)
    }). POST /api/seo/deploy with the article_id ${article_id} and the target ${target} is safe to repeat: it only ever shows the bytes that a person approved, and tells how it ended.`,
    refs: { article_id, receipt_id },
    severity: "high",
    key: `article/${receipt_id}`,
  });
}

/** Returns the commitment to the page of an article. */
export const commitmentOf = ({ pageSalt, page }: ArticleRecord) =>
  computeCommitment(pageSalt!, page!);

function stateAfter({ publishedAt }: ArticleRecord, end: DeployEnd["state"]): ArticleState {
  if (end === "done" || publishedAt !== null) return "published";
  return end === "unknown" ? "unknown" : "not_published";
}
