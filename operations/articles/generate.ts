import { z } from "zod";
import { mapTemporalErrors, operation, type Platform, unknownRecord } from "../../calls/mod.ts";
import { idOfCall, recoverRun, startRun } from "../../calls/recover/mod.ts";
import { siteTarget } from "./writing/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  articleDeployWorkflowId,
  articleWorkflowId,
  PLATFORM_TENANT,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { dropArticle, getArticle } from "../../store/articles/mod.ts";
import { EXAMPLE_RUN_ID, oneLine } from "../schemas/mod.ts";
import { checkSource, startArticle } from "./_generate.ts";
import { ArticleId, ArticleSource, SessionId, Target } from "./_schemas.ts";

const Started = z.object({
  session_id: SessionId,
  article_id: ArticleId,
  workflow_id: z.string(),
  run_id: z.string(),
});

/** Writes an article. */
export const generateArticle = operation({
  name: "articles.generate",
  group: "missions",
  summary:
    "Write an article from a ticket, the knowledge base, a transcript, or the work of some days",
  description:
    "Rules write it from facts, each sentence cites some, and names of services, hosts and people are taken out. It is " +
    "checked; then a person who did not ask for it decides (`approval_id` of its status). Only after that is it published, " +
    "fetched back and compared, and its SHA-256 sealed.",
  effect: "run",
  access: "key",
  input: z.object({
    source: ArticleSource,
    keyword: oneLine(2, 60).optional().describe("Words that the article has to have"),
    slug: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "Expected lower-case words with hyphens")
      .max(60).optional().describe("Its place on the site; default: made from the title"),
  }),
  output: Started,
  rest: { seo_generate: "POST /api/seo/generate" },
  presentation: {
    hints: { destructive: false },
    errors: ["NotFound", "Conflict", "Unavailable"],
  },
  governance: { rule: "key-decides", check: checkSource },
  durability: {
    startsWorkflow: WORKFLOW.seo,
    startsRun: "ids",
    dropUnstarted: ({ article_id }, { store }) => dropArticle(store.db, article_id!),
  },
  example: {
    input: { source: { kind: "ticket", id: "INC-3f9a01c2b7d4" }, keyword: "connection refused" },
    output: {
      session_id: "seo-5b1e09c77a42",
      article_id: "ART-5b1e09c77a42",
      workflow_id: "seo-5b1e09c77a42",
      run_id: EXAMPLE_RUN_ID,
    },
  },
  async run(wish, context) {
    await checkSource(wish, context);
    const articleId = `ART-${idOfCall(context.decisionId, 12)}`;
    const started = startedAs(articleId);
    return { ...started, ...await startArticle(context, articleId, wish, started) };
  },
});

const startedAs = (article_id: string) => ({
  session_id: articleWorkflowId(article_id),
  article_id,
});

const DeployInput = z.object({
  article_id: ArticleId,
  target: Target.optional().describe("Default: where readers get the articles"),
});

/** Deploys an article once more. */
export const deployArticle = operation({
  name: "articles.deploy",
  group: "missions",
  summary: "Deploy an approved article once more, or to another place",
  description:
    "The bytes are those that a person approved. The intent is sealed, the site is replaced in one act, the page is fetched " +
    "back and compared, and `done`, `not_done` or `unknown` is sealed. `git` commits the site to the branch that the " +
    "operator has set.",
  effect: "run",
  access: "key",
  input: DeployInput,
  output: Started,
  rest: { seo_deploy: "POST /api/seo/deploy" },
  presentation: {
    hints: { destructive: false, idempotent: true, openWorld: true },
    errors: ["NotFound", "Conflict", "NotConfigured", "Unavailable"],
  },
  governance: {
    rule: "acts-on-the-outside",
    check: checkDeploy,
  },
  durability: {
    startsWorkflow: WORKFLOW.seoDeploy,
    /** A call for another place than the run's has joined that in vain. */
    async recover(call, platform) {
      const recovery = await recoverRun(platform, call, { startsRun: "ids" });
      const { target } = (call.input ?? {}) as { readonly target?: string };
      if (recovery.state !== "done" || target === undefined) return recovery;
      const { workflow_id, run_id } = recovery.ids;
      const joined = await targetOf(platform, workflow_id!, run_id!);
      return joined === target ? recovery : { state: "not_done" };
    },
  },
  example: {
    input: { article_id: "ART-5b1e09c77a42", target: "git" },
    output: {
      session_id: "seo-5b1e09c77a42",
      article_id: "ART-5b1e09c77a42",
      workflow_id: "seo-deploy-5b1e09c77a42",
      run_id: EXAMPLE_RUN_ID,
    },
  },
  async run(input, context) {
    await checkDeploy(input, context);
    const { article_id, target = siteTarget(context.store.tenant, context.config.settings) } =
      input;
    const started = startedAs(article_id);
    const run = await startRun(context, WORKFLOW.seoDeploy, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: articleDeployWorkflowId(article_id),
      args: [{ article_id, target }],
      memo: { target },
      staticSummary: `Deploys ${article_id} to ${target}`,
    }, started);
    const { workflowId: workflow_id, firstExecutionRunId: run_id } = run;
    const joined = await targetOf(context, workflow_id, run_id);
    if (joined === target) return { ...started, workflow_id, run_id };
    throw new Problem(
      "Conflict",
      `Cannot deploy ${article_id} to ${target} now: its deployment to ${joined} is not over; try again after it`,
    );
  },
});

/** Returns the place that a run deploys to. */
async function targetOf(
  { temporal }: Pick<Platform, "temporal">,
  workflowId: string,
  runId: string,
): Promise<unknown> {
  const { workflow } = await temporal();
  const { memo } = await mapTemporalErrors(workflow.getHandle(workflowId, runId).describe());
  return memo?.target;
}

/** @throws {Problem} `NotFound`, `Conflict`; `NotConfigured`: the place takes no articles of the tenant */
async function checkDeploy(
  { article_id, target: wanted }: z.output<typeof DeployInput>,
  { store, config }: Pick<Platform, "store" | "config">,
): Promise<void> {
  const place = siteTarget(store.tenant, config.settings);
  const target = wanted ?? place;
  if (target === "git" && store.tenant !== PLATFORM_TENANT) {
    throw new Problem(
      "NotConfigured",
      "Cannot deploy to git: the branch is the operator's own; use folder",
    );
  }
  if (target === "folder" && place === "git") {
    throw new Problem(
      "NotConfigured",
      "Cannot deploy to folder: readers get the articles from git (SEALOOP_ARTICLES_SITE)",
    );
  }
  const article = await getArticle(store.db, article_id);
  if (!article) throw await unknownRecord(store.db, "article", article_id);
  if (!["published", "not_published", "unknown"].includes(article.state)) {
    throw new Problem(
      "Conflict",
      `Cannot deploy ${article_id}: it is ${article.state}; a person approves it first`,
    );
  }
  if (target !== place && article.publishedAt === null) {
    throw new Problem(
      "Conflict",
      `Cannot deploy ${article_id} to ${target}: it is not on the site; deploy it to ${place} first`,
    );
  }
  if (target === "git" && config.settings.SEALOOP_ARTICLES_GIT === undefined) {
    throw new Problem(
      "NotConfigured",
      "Cannot deploy to git: set SEALOOP_ARTICLES_GIT to a repository",
    );
  }
}
