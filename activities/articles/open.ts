import { articleDeployWorkflowId, articleWorkflowId } from "../../contract/domain/mod.ts";
import { dropArticle } from "../../store/articles/mod.ts";
import type { ActKind } from "../acts/mod.ts";
import { deployArticleActivities } from "./deploy.ts";
import { removeErasedArticles } from "./erased.ts";

/** Articles that are being written or decided about. One whose workflow never began is removed. */
export const articleKind: ActKind = {
  workflowId: articleWorkflowId,
  async end(owner, { id: article_id }, run, status) {
    if (status === "NOT_FOUND" && await dropArticle(owner.store.db, article_id)) return true;
    const { stopArticle, sealArticle } = deployArticleActivities(owner);
    await stopArticle({ article_id, run });
    await sealArticle({ article_id, run });
    return true;
  },
};

/** Deployments of articles that were written before. One that nobody has looked after is `unknown`. */
export const deployKind: ActKind = {
  workflowId: articleDeployWorkflowId,
  async end(owner, { id: article_id, act: { target, receipt_id } }, run) {
    const { sealDeploy } = deployArticleActivities(owner);
    await sealDeploy({ article_id, run, target, state: "unknown", code: "not_seen" }, receipt_id);
    return true;
  },
};

/** A site on which articles are that named somebody who was erased. */
export const siteKind: ActKind = {
  end: async (owner) => await removeErasedArticles(owner) > 0,
};
