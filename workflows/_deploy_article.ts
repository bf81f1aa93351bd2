import { setCurrentDetails } from "@temporalio/workflow";
import type { ArticleDeployOrder, ArticleResult } from "../contract/domain/mod.ts";
import { resultOrReason } from "./_drafts.ts";
import { ONE_ATTEMPT, perform, PROOF, SEAL } from "./_options.ts";
import { currentRun } from "./_run.ts";

/**
 * Deploys an article: seals the intent, acts in one attempt, looks what readers get, and seals what happened. Whatever
 * the attempt says, the look decides; where nobody can look, the end is `unknown`.
 */
export async function deployArticle(
  { article_id, target }: ArticleDeployOrder,
): Promise<ArticleResult> {
  const order = { article_id, target, run: currentRun() };
  await perform(SEAL, `Seals the intent to deploy ${article_id}`).intendDeploy(order);
  setCurrentDetails(`**deploy** · ${target}`);
  await resultOrReason(
    () => perform(ONE_ATTEMPT, `Deploys ${article_id} to ${target}`).deployArticle(order),
    "failed",
  );
  const proof = await resultOrReason(
    () => perform(PROOF, `Fetches ${article_id} and compares`).proveDeploy(order),
    "nobody can look",
  );
  const end = typeof proof === "string" ? { state: "unknown", code: "not_seen" } as const : proof;
  return await perform(SEAL, `Seals the end of ${article_id}`).sealDeploy({ ...order, ...end });
}
