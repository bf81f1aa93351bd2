import { setCurrentDetails } from "@temporalio/workflow";
import { actOnce, type ArticleDeployOrder, type ArticleResult } from "../contract/domain/mod.ts";
import { resultOrLost } from "./_act.ts";
import { ONE_ATTEMPT, perform, PROOF, SEAL } from "./_options.ts";
import { currentRun } from "./_run.ts";

const NOT_SEEN = { state: "unknown", code: "not_seen" } as const;

/**
 * Deploys an article: seals the intent, acts in one attempt, looks what readers get, and seals what happened. Whatever
 * the attempt says, the look decides; where nobody can look, the end is `unknown`.
 */
export async function deployArticle(
  { article_id, target }: ArticleDeployOrder,
): Promise<ArticleResult> {
  const order = { article_id, target, run: currentRun() };
  return await actOnce({
    async intend() {
      await perform(SEAL, `Seals the intent to deploy ${article_id}`).intendDeploy(order);
      setCurrentDetails(`**deploy** · ${target}`);
      return true;
    },
    act: () =>
      resultOrLost(() =>
        perform(ONE_ATTEMPT, `Deploys ${article_id} to ${target}`).deployArticle(order)
      ),
    prove: () =>
      resultOrLost(() => perform(PROOF, `Fetches ${article_id} and compares`).proveDeploy(order)),
    end: (proof = NOT_SEEN) =>
      perform(SEAL, `Seals the end of ${article_id}`).sealDeploy({ ...order, ...proof }),
  });
}
