/** Scenarios of articles whose histories are recorded. */
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import type { WorkflowHandle } from "@temporalio/client";
import {
  articleDeployWorkflowId,
  articleWorkflowId,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { readSiteFile } from "../../operations/articles/writing/mod.ts";
import type { VoteMove } from "../../store/approvals/mod.ts";
import { addArticle } from "../../store/articles/mod.ts";
import { eventually } from "../_time.ts";
import type { TestLoop } from "./_loop.ts";

/** Functions by which scenarios act on runs. */
interface Ways {
  ended(run: WorkflowHandle): Promise<WorkflowHandle>;
  speak(run: WorkflowHandle, move: VoteMove, who: string): Promise<unknown>;
}

/** Returns the scenarios by the names of their files. @param port of the site */
export function articleScenarios(
  loop: TestLoop,
  port: number,
  { ended, speak }: Ways,
): Record<string, () => Promise<WorkflowHandle>> {
  async function write(n: string, id: string): Promise<WorkflowHandle> {
    const articleId = `ART-0000000000${n}`;
    await addArticle(loop.store.db, {
      id: articleId,
      source: { kind: "knowledge", id },
      keyword: null,
      slug: null,
      pageReceiptId: `00000000000000${n}`,
      requestedBy: "recorder",
      requestedByKey: null,
    });
    return await loop.client.workflow.start(WORKFLOW.seo, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: articleWorkflowId(articleId),
      args: [{ article_id: articleId }],
    });
  }
  /** Returns the approval that a run waits for, once it has begun. */
  async function approvalOf(run: WorkflowHandle): Promise<WorkflowHandle> {
    const approval = loop.client.workflow.getHandle(
      run.workflowId.replace("seo-", "approval-APR-"),
    );
    return await eventually(() => approval.describe().then(() => approval, () => undefined));
  }

  /** Serves the site while something runs. */
  async function withSite(work: () => Promise<WorkflowHandle>): Promise<WorkflowHandle> {
    const site = createServer(async (request, response) => {
      const path = `${request.url!.slice("/articles/".length)}index.html`;
      const page = await readSiteFile(join(loop.config.dataDir, "articles"), "platform", path);
      response.writeHead(page ? 200 : 404).end(page);
    }).listen(port, "127.0.0.1");
    await once(site, "listening");
    const run = await work();
    site.close();
    return run;
  }

  return {
    "seo.published": () =>
      withSite(async () => {
        const run = await write("01", "database-connections-exhausted");
        await speak(await approvalOf(run), "approved", "ann");
        return await ended(run);
      }),
    "seo.refused": async () => await ended(await write("02", "database-connections-exhausted")),
    "seo.denied": async () => {
      const run = await write("03", "storage-inodes-exhausted");
      await speak(await approvalOf(run), "denied", "ann");
      return await ended(run);
    },
    "seo.cancelled": async () => {
      const run = await write("04", "storage-inodes-exhausted");
      await approvalOf(run);
      await run.cancel();
      return await ended(run);
    },
    "seoDeploy.done": () =>
      withSite(async () => {
        const article_id = "ART-000000000001";
        const run = await loop.client.workflow.start(WORKFLOW.seoDeploy, {
          taskQueue: TASK_QUEUE.itsm,
          workflowId: articleDeployWorkflowId(article_id),
          args: [{ article_id, target: "folder" }],
        });
        return await ended(run);
      }),
  };
}
