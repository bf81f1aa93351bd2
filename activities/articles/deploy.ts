import { hash } from "node:crypto";
import { cancellationSignal } from "@temporalio/activity";
import { receiptIdOf } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { type ArticleResult, type DeployTarget } from "../../contract/domain/mod.ts";
import {
  articleUrl,
  deployFolder,
  deployGit,
  readGitFile,
  renderSite,
  siteTarget,
} from "../../operations/articles/writing/mod.ts";
import { openHttpClient } from "../../integrations/http/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  type ArticleDeploy,
  type ArticleRecord,
  listSitePages,
  lockArticle,
  lockSite,
  moveArticle,
  noteArticleStep,
} from "../../store/articles/mod.ts";
import type { ActivityParts } from "../parts.ts";
import {
  actorOf,
  APPROVED,
  type ArticleRunOrder,
  assertApproved,
  isStopped,
  lockRequiredArticle,
  requireArticle,
  siteOf,
} from "./_article.ts";
import { commitmentOf, type DeployEnd, endDeploy, intentOf, openDeploy } from "./_end.ts";
import { folderOf, gitOf, MAX_PAGES, takeOffSite } from "./_site.ts";

const TIMEOUT_MS = 10_000;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** An order to deploy one article, by its run. */
export interface DeployRunOrder extends ArticleRunOrder {
  readonly target: DeployTarget;
}

/** Creates the activities that deploy an article: seal the intent, act once, look, and seal what happened. */
export function deployArticleActivities(parts: ActivityParts) {
  const { store, config: { settings } } = parts;
  const { db } = store;

  /**
   * Seals the intent to deploy an article. An intent of another run that has no end yet ends as `unknown`: its attempt acts
   * no more. Safe to repeat: the run names its receipt.
   */
  async function intendDeploy({ article_id, target, run }: DeployRunOrder): Promise<void> {
    if (target === "git") gitOf(parts);
    await db.transaction(async (trx) => {
      const article = await lockRequiredArticle(trx, article_id);
      const receipt_id = intentOf(run);
      if (article.deploy?.receipt_id === receipt_id) return;
      await assertApproved(trx, article);
      if (article.publishedAt === null && target !== siteTarget(store.tenant, settings)) {
        throw new Problem(
          "Conflict",
          `Cannot deploy ${article_id} to ${target}: it is not on the site`,
        );
      }
      if (await isStopped(trx, article)) {
        throw new Problem("Denied", `Cannot deploy ${article_id}: a stop applies`);
      }
      if (article.deploy?.state === "intended") {
        const end = { state: "unknown", code: "overtaken" } as const;
        await endDeploy(trx, parts, article, end, run, receiptIdOf(run, "OVERTAKEN"));
      }
      const url = articleUrl(siteOf(parts).siteUrl, article.slug!);
      const at = new Date().toISOString();
      const deploy: ArticleDeploy = {
        target,
        state: "intended",
        code: "intended",
        url,
        at,
        receipt_id,
      };
      await moveArticle(trx, article_id, APPROVED, { state: article.state, deploy });
      await requestSeal(trx, {
        id: receipt_id,
        category: "article_intended",
        actor: actorOf(article),
        subject: article_id,
        action: "articles.deploy",
        outcome: "intended",
        details: {
          target,
          page_commitment: commitmentOf(article),
          ...article.approvalId ? { approval_id: article.approvalId } : {},
          ...run,
        },
        evidence: { salt: article.pageSalt!.toString("hex"), url, page_sha256: article.pageSha256 },
      });
    });
  }

  /**
   * Deploys the site with an article, in one attempt. Not safe to repeat: another activity looks what became of it. An
   * attempt whose time is over changes nothing any more: it acts only while its intent is open and nobody has looked.
   */
  async function deployArticle({ article_id, target, run }: DeployRunOrder): Promise<void> {
    const signal = cancellationSignal();
    await db.transaction(async (trx) => {
      await lockSite(trx);
      const confirm = async () => {
        signal.throwIfAborted();
        const article = await requireArticle(trx, article_id);
        await assertApproved(trx, article);
        if (openDeploy(article, intentOf(run))?.code === "intended") return article;
        throw new Problem("Conflict", `Cannot deploy ${article_id}: its time is over`);
      };
      const files = await renderFiles(trx, await confirm(), target);
      if (target === "folder") {
        await deployFolder(folderOf(parts), store.tenant, files, confirm, signal);
      } else await deployGit(gitOf(parts), files, `Publish ${article_id}`, confirm, signal);
    });
  }

  async function renderFiles(
    trx: Db,
    { id, slug, title, description, page, publishedAt }: ArticleRecord,
    target: DeployTarget,
  ): Promise<ReadonlyMap<string, string>> {
    const others = await listSitePages(trx, { target, exceptId: id, limit: MAX_PAGES });
    const own = {
      slug: slug!,
      title: title!,
      description: description!,
      page: page!,
      publishedAt: publishedAt ?? new Date().toISOString(),
    };
    const pages = [own, ...others].sort((a, b) => a.publishedAt < b.publishedAt ? 1 : -1);
    return renderSite(pages, siteOf(parts));
  }

  /**
   * Looks what became of a deployment: fetches the page from where readers get it, and compares. It waits for an attempt
   * that is still under way, and where it says `not_done`, a late attempt acts no more. Safe to repeat.
   *
   * @throws {OutboundFailed} it can't be fetched at the moment
   */
  async function proveDeploy({ article_id, target, run }: DeployRunOrder): Promise<DeployEnd> {
    return await db.transaction(async (trx) => {
      await lockSite(trx);
      const { slug, pageSha256 } = await requireArticle(trx, article_id);
      const found = target === "folder"
        ? await fetchPage(articleUrl(siteOf(parts).siteUrl, slug!))
        : await readGitFile(gitOf(parts), `${slug}/index.html`);
      if (found && hash("sha256", found) === pageSha256) {
        return { state: "done", code: "same_bytes" };
      }
      const deploy = openDeploy(await lockRequiredArticle(trx, article_id), intentOf(run));
      if (deploy) {
        await moveArticle(trx, article_id, APPROVED, { deploy: { ...deploy, code: "looked" } });
      }
      return { state: "not_done", code: found ? "other_bytes" : "not_found" };
    });
  }

  /** Fetches a page of the site. @returns undefined: there is none */
  async function fetchPage(url: string): Promise<Buffer | undefined> {
    const http = openHttpClient({ allowHosts: [new URL(url).hostname] });
    const { status, body } = await http.request(url, {
      method: "GET",
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_PAGE_BYTES,
    });
    if (status === 404) return undefined;
    if (status !== 200) throw new Problem("Unavailable", `The site answers ${status}`);
    return body;
  }

  /**
   * Seals how a deployment ended. An article that is not published takes its page off the site again, where readers might
   * get it. Safe to repeat: an intent has one end.
   *
   * @param intent default: the run's own
   */
  async function sealDeploy(
    { article_id, run, state, code }: DeployRunOrder & DeployEnd,
    intent = intentOf(run),
  ): Promise<ArticleResult> {
    return await db.transaction(async (trx) => {
      if (state !== "done") await lockSite(trx);
      const article = await lockRequiredArticle(trx, article_id);
      if (APPROVED.includes(article.state) && openDeploy(article, intent)) {
        if (state !== "done") await takeOffSite(trx, parts, article);
        return await endDeploy(trx, parts, article, { state, code }, run);
      }
      return { article_id, state: article.state, receipt_id: article.receiptId ?? intent };
    });
  }

  /**
   * Seals the end of an article that is not published: refused by a check, or denied by people. One that is published has
   * its end. Safe to repeat.
   *
   * @throws {Problem} `NotFound`: it was removed, as its call had failed
   */
  async function sealArticle({ article_id, run }: ArticleRunOrder): Promise<ArticleResult> {
    const receipt_id = receiptIdOf(run, "END");
    return await db.transaction(async (trx) => {
      const article = await lockRequiredArticle(trx, article_id);
      const { state } = article;
      if (article.receiptId === receipt_id) return { article_id, state, receipt_id };
      if (state === "published" && article.receiptId !== null) {
        return { article_id, state, receipt_id: article.receiptId };
      }
      await moveArticle(trx, article_id, [state], { receiptId: receipt_id });
      await noteArticleStep(trx, article_id, "seal", receipt_id);
      await requestSeal(trx, {
        id: receipt_id,
        category: "article_ended",
        actor: actorOf(article),
        subject: article_id,
        action: "articles.write",
        outcome: state,
        details: {
          source: article.source.kind,
          failed: (article.checks ?? []).filter(({ passed }) => !passed).map(({ check }) => check),
          ...article.approvalId ? { approval_id: article.approvalId } : {},
          ...run,
        },
      });
      return { article_id, state, receipt_id };
    });
  }

  /**
   * Stops an article whose run ends early: one whose deployment was begun, and not looked after, is `unknown`, and off the
   * site. Safe to repeat.
   */
  async function stopArticle({ article_id, run }: ArticleRunOrder): Promise<void> {
    await db.transaction(async (trx) => {
      await lockSite(trx);
      const article = await lockArticle(trx, article_id);
      if (!article) return;
      const { state, deploy } = article;
      if (state === "approved" && deploy?.state === "intended") {
        await takeOffSite(trx, parts, article);
        await endDeploy(trx, parts, article, { state: "unknown", code: "not_seen" }, run);
        return;
      }
      await moveArticle(trx, article_id, ["writing", "review", "approved"], {
        state: state === "approved" ? "not_published" : "refused",
      });
    });
  }

  return { intendDeploy, deployArticle, proveDeploy, sealDeploy, sealArticle, stopArticle };
}
