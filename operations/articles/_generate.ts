import { type Context, type Platform, unknownRecord } from "../../calls/mod.ts";
import { startNotedRun } from "../../calls/recover/mod.ts";
import { type Caller, Problem } from "../../contract/mod.ts";
import {
  type ArticleSource,
  articleWorkflowId,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { readPeriod } from "./writing/mod.ts";
import { randomHex } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { noteCallEffects } from "../../store/calls/mod.ts";
import { getTicket } from "../../store/incidents/mod.ts";
import { addArticle, dropArticle, getPassage } from "../../store/articles/mod.ts";
import { getTranscript } from "../../store/media/mod.ts";

/** A wish for an article. */
export interface ArticleWish {
  readonly source: ArticleSource;
  readonly keyword?: string | undefined;
  readonly slug?: string | undefined;
}

/** @throws {Problem} `NotFound`: there is nothing to write from; `Conflict`: it is not over, or has no text */
export async function checkSource(
  { source: { kind, id } }: Pick<ArticleWish, "source">,
  { store: { db } }: Pick<Platform, "store">,
): Promise<void> {
  if (kind === "ticket") {
    const ticket = await getTicket(db, id);
    if (!ticket) throw await unknownRecord(db, "ticket", id);
    if (ticket.status !== "resolved") {
      throw new Problem("Conflict", `Cannot write about ${id}: it is open; resolve it first`);
    }
  } else if (kind === "knowledge") {
    const passage = await getPassage(db, id);
    if (passage?.kind !== "article") {
      throw new Problem(
        "NotFound",
        `There is no article ${id} in the knowledge base; rag_query finds them`,
      );
    }
  } else if (kind === "period") {
    if (!readPeriod(id)) {
      throw new Problem(
        "NotFound",
        `${id} is no period: use 2026-11-23, 2026-11 or 2026-11-16/2026-11-22, at most a year`,
      );
    }
  } else {
    const transcript = await getTranscript(db, id);
    if (!transcript) {
      throw await unknownRecord(db, "transcript", id, "GET /api/seo/transcripts lists them");
    }
    if (!transcript.text) {
      throw new Problem(
        "Conflict",
        transcript.state === "done"
          ? `Cannot write about ${id}: nobody speaks in it`
          : `Cannot write about ${id}: it is ${transcript.state}`,
      );
    }
  }
}

/**
 * Stores the wish for an article, and starts the workflow that writes it.
 *
 * @param given the other parts of the call's output
 * @returns its run
 */
export async function startArticle(
  context: Context,
  articleId: string,
  wish: ArticleWish,
  given: Readonly<Record<string, unknown>>,
): Promise<{ readonly workflow_id: string; readonly run_id: string }> {
  const { store, caller, decisionId } = context;
  await store.db.transaction(async (trx) => {
    await addWish(trx, articleId, wish, caller);
    const ids = { workflow_id: articleWorkflowId(articleId), article_id: articleId };
    await noteCallEffects(trx, decisionId, ids, given);
  });
  return await startWriting(context, articleId, wish);
}

/** Stores the wish for an article. @param author who wants it, and may not approve it */
export async function addWish(
  db: Db,
  articleId: string,
  { source, keyword, slug }: ArticleWish,
  author: Pick<Caller, "principal" | "keyId">,
): Promise<void> {
  await addArticle(db, {
    id: articleId,
    source,
    keyword: keyword ?? null,
    slug: slug ?? null,
    pageReceiptId: randomHex(16),
    requestedBy: author.principal,
    requestedByKey: author.keyId,
  });
}

/** Starts the workflow that writes an article, or joins it. An article whose workflow provably did not start is dropped. */
export async function startWriting(
  context: Pick<Context, "temporal" | "store" | "decisionId">,
  articleId: string,
  { source }: Pick<ArticleWish, "source">,
): Promise<{ readonly workflow_id: string; readonly run_id: string }> {
  try {
    const run = await startNotedRun(context, WORKFLOW.seo, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: articleWorkflowId(articleId),
      workflowIdReusePolicy: "REJECT_DUPLICATE",
      args: [{ article_id: articleId }],
      staticSummary: `Writes ${articleId} from a ${source.kind}`,
    });
    return { workflow_id: run.workflowId, run_id: run.firstExecutionRunId };
  } catch (error) {
    // An answer may be all that was lost: then the workflow runs, and needs its article.
    const hasNotStarted = error instanceof Problem && !error.rule.retryable;
    if (hasNotStarted) await dropArticle(context.store.db, articleId);
    throw error;
  }
}
