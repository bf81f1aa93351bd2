import { forTenant, getRunStatus } from "../../calls/mod.ts";
import { articleDeployWorkflowId, articleWorkflowId } from "../../contract/domain/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { dropArticle, listOpenArticles } from "../../store/articles/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { deployArticleActivities } from "./deploy.ts";
import { removeErasedArticles } from "./erased.ts";

/** Creates the activity about articles whose workflow was ended from outside. */
export function endedArticleActivities(parts: ActivityParts) {
  const { log } = parts;

  /**
   * Ends articles of all tenants whose workflow was ended from outside, and seals that. A deployment that nobody looked
   * after is `unknown`. An article whose workflow never began is removed. Articles that named somebody who was erased leave
   * the sites. Safe to repeat: an article ends once.
   *
   * @returns how many
   */
  async function settleEndedArticles(): Promise<number> {
    let settled = 0;
    for (const tenant of await listTenants(parts.store.db)) {
      const owner = forTenant(parts, tenant);
      const { db } = owner.store;
      const { stopArticle, sealArticle, sealDeploy } = deployArticleActivities(owner);
      for (const { id: article_id, isOpen, deploy } of await listOpenArticles(db)) {
        const workflow_id = (isOpen ? articleWorkflowId : articleDeployWorkflowId)(article_id);
        const { status, runId = "gone" } = await getRunStatus(parts.temporal, workflow_id);
        if (status === "RUNNING") continue;
        const order = { article_id, run: { workflow_id, run_id: runId } };
        if (!isOpen) {
          const { target, receipt_id } = deploy!;
          await sealDeploy({ ...order, target, state: "unknown", code: "not_seen" }, receipt_id);
        } else if (status !== "NOT_FOUND" || !await dropArticle(db, article_id)) {
          await stopArticle(order);
          await sealArticle(order);
        }
        settled++;
      }
      settled += await removeErasedArticles(owner).catch((err) => {
        log.warn({ err, tenant }, "Articles that named an erased person are still on the site");
        return 0;
      });
    }
    return settled;
  }

  return { settleEndedArticles };
}
