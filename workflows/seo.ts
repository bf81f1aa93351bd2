import {
  CancellationScope,
  isCancellation,
  setCurrentDetails,
  upsertSearchAttributes,
} from "@temporalio/workflow";
import {
  type AnswerRequest,
  type ArticleDeployOrder,
  type ArticleOrder,
  type ArticleResult,
  ATTRIBUTE,
  type DeployTarget,
} from "../contract/domain/mod.ts";
import { askPeople } from "./_ask_people.ts";
import { deployArticle } from "./_deploy_article.ts";
import { writeAndReview } from "./_drafts.ts";
import { LONG, MODEL_CALL, MODEL_REVIEW, perform, QUICK, SEAL } from "./_options.ts";
import { currentRun } from "./_run.ts";

/**
 * Writes one article from the platform's records, has a person decide, and publishes it. Its id is `seo-<id>`.
 *
 * Facts, outline and text come from rules; a model may tell the story, and each of its sentences has to cite a fact. An
 * article that fails a check ends here, and nobody is asked about it.
 */
export async function seo({ article_id }: ArticleOrder): Promise<ArticleResult> {
  try {
    if (await write(article_id)) {
      const { approved, target } = await approve(article_id);
      if (approved) return end(await deployArticle({ article_id, target }));
    }
  } catch (error) {
    if (isCancellation(error)) return await CancellationScope.nonCancellable(stop);
    await perform(SEAL, `Stops ${article_id}`).stopArticle({ article_id, run: currentRun() });
  }
  return end(await seal());

  async function stop(): Promise<ArticleResult> {
    await perform(SEAL, `Stops ${article_id}`).stopArticle({ article_id, run: currentRun() });
    return end(await seal());
  }

  async function seal(): Promise<ArticleResult> {
    return await perform(SEAL, `Seals the end of ${article_id}`)
      .sealArticle({ article_id, run: currentRun() });
  }
}

/** Deploys an article once more, or to another place. Its id is `seo-deploy-<id>`. */
export async function seoDeploy(order: ArticleDeployOrder): Promise<ArticleResult> {
  return end(await deployArticle(order));
}

async function write(article_id: string): Promise<boolean> {
  setCurrentDetails("**facts** · collects and writes");
  const { request } = await perform(LONG, `Collects the facts of ${article_id}, and writes`)
    .writeArticle({ article_id });
  if (request) await tell(article_id, request);
  setCurrentDetails("**redact** · takes out private names");
  await perform(QUICK, `Takes private names out of ${article_id}`).redactArticle({ article_id });
  const { failed } = await perform(QUICK, `Checks ${article_id}`).reviewArticle({ article_id });
  setCurrentDetails(
    failed.length === 0 ? "**check** · passed" : `**refused** · ${failed.join(", ")}`,
  );
  return failed.length === 0;
}

/** Has a model tell the story, where one is configured. What does not hold is dropped. */
async function tell(article_id: string, request: AnswerRequest): Promise<void> {
  const [told, authorship] = await writeAndReview({
    write: (objections) =>
      perform(MODEL_CALL, "Has a model tell the story").draftAnswer(request, objections),
    review: (draft) => perform(MODEL_REVIEW, "Checks each sentence").reviewAnswer(request, draft),
  });
  const { written_by, provider, dropped, fallback } = authorship;
  if (told === null && fallback === null) return;
  await perform(QUICK, `Takes over the story of ${article_id}`).rephraseArticle({
    article_id,
    told,
    authorship: { written_by, provider, dropped, fallback },
  });
}

async function approve(
  article_id: string,
): Promise<{ readonly approved: boolean; readonly target: DeployTarget }> {
  const order = { article_id, run: currentRun() };
  const asked = await perform(SEAL, `Asks about ${article_id}`).askAboutArticle(order);
  setCurrentDetails(`**review** · waits for people: ${asked.approval_id}`);
  await askPeople({ ...asked, subject: article_id }, `Publish ${article_id}?`);
  return await perform(SEAL, `Takes over what became of ${asked.approval_id}`)
    .decideArticle(order);
}

function end(result: ArticleResult): ArticleResult {
  const { state, receipt_id } = result;
  setCurrentDetails(`**${state}**`);
  upsertSearchAttributes([
    { key: ATTRIBUTE.outcome, value: state },
    { key: ATTRIBUTE.receipt, value: receipt_id },
  ]);
  return result;
}
