import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { once } from "node:events";
import { readdir, readlink } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { readSiteFile } from "../../operations/articles/writing/mod.ts";
import { type ArticleResult, articleWorkflowId, WORKFLOW } from "../../contract/domain/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import type { KeyRecord } from "../../store/keys/mod.ts";
import { addArticle, type ArticleRecord, getArticle } from "../../store/articles/mod.ts";
import { freePort } from "../_run.ts";
import { eventually } from "../_time.ts";
import { type LoopBench, openLoopBench, type WorkerProcess } from "./_loop_bench.ts";
import { createApprover, vote } from "./_people.ts";

// deno-lint-ignore no-explicit-any -- receipts, into which the test looks
type Json = any;

const QUEUE = "itsm-articles";
const ARTICLES = {
  "ART-0000000000a1": "database-connections-exhausted",
  "ART-0000000000b2": "dns-internal-resolver-down",
};
const IDS = Object.keys(ARTICLES) as (keyof typeof ARTICLES)[];

describe("articles whose worker is killed with -9", () => {
  let bench: LoopBench;
  let worker: WorkerProcess;
  let site: Server;
  let siteUrl: string;
  let ann: KeyRecord;

  before(async () => {
    const port = await freePort();
    siteUrl = `http://127.0.0.1:${port}/articles`;
    bench = await openLoopBench({ settings: { SEALOOP_ARTICLES_URL: siteUrl } });
    site = createServer(async (request, response) => {
      const page = await readPage(`${request.url!.slice("/articles/".length)}index.html`);
      response.writeHead(page ? 200 : 404).end(page);
    }).listen(port, "127.0.0.1");
    await once(site, "listening");
    ann = await createApprover(bench.store, "ann");
    worker = await bench.worker(QUEUE);
    worker.begin();
  });
  after(async () => {
    site?.close();
    site?.closeAllConnections();
    await bench?.close();
  });

  const folder = () => join(bench.dataDir, "articles");
  const readPage = (path: string) => readSiteFile(folder(), "platform", path);
  const release = () => readlink(join(folder(), "platform", "current")).catch(() => undefined);
  const countReleases = async () => (await readdir(join(folder(), "platform", "releases"))).length;
  /** Lists the articles that readers get. */
  async function listShown(): Promise<string[]> {
    const pages = await Promise.all(
      IDS.map(async (id) => await readPage(`${(await articleOf(id)).slug}/index.html`)),
    );
    return IDS.filter((_, n) => pages[n] !== undefined);
  }
  const articleOf = async (id: string): Promise<ArticleRecord> =>
    (await getArticle(bench.store.db, id))!;
  const handleOf = (id: string) => bench.client.workflow.getHandle(articleWorkflowId(id));
  async function start(id: keyof typeof ARTICLES): Promise<void> {
    await addArticle(bench.store.db, {
      id,
      source: { kind: "knowledge", id: ARTICLES[id] },
      keyword: null,
      slug: null,
      pageReceiptId: `page${id.slice(-12)}`,
      requestedBy: "test",
      requestedByKey: null,
    });
    await bench.client.workflow.start(WORKFLOW.seo, {
      taskQueue: QUEUE,
      workflowId: articleWorkflowId(id),
      args: [{ article_id: id }],
    });
  }
  /** Lets the worker kill itself after an activity of what is started, and another one take over. */
  async function killAfter(activity: string, begin: () => Promise<unknown>): Promise<void> {
    const next = bench.worker(QUEUE);
    worker.dieAt({ when: "after", activity });
    await begin();
    assert.equal(await worker.ended, "SIGKILL");
    worker = await next;
  }
  const receiptsOf = async (id: string): Promise<Json[]> =>
    (await exportReceipts(bench.store, { from: 0, to: 10_000 }))
      .map(({ text }) => JSON.parse(text)).filter(({ subject }) => subject === id);

  it("in the middle of writing, are written and asked about once", async () => {
    await killAfter("writeArticle", () => Promise.all(IDS.map(start)));
    worker.begin();
    for (const id of IDS) {
      const { checks, approvalId } = await eventually(async () => {
        const article = await articleOf(id);
        return article.approvalId || article.state === "refused" ? article : undefined;
      });
      assert.deepEqual(checks!.filter(({ passed }) => !passed), []);
      assert.equal(approvalId, id.replace("ART", "APR"));
    }
    assert.equal(await release(), undefined);
  });

  it("between intent and comparison, end as the site is, which is whole, and nothing is done twice", async () => {
    let votes: Promise<unknown> | undefined;
    await killAfter("deployArticle", () => {
      votes = Promise.all(IDS.map((id) => vote(bench, id.replace("ART", "APR"), "approved", ann)));
      votes.catch(() => {}); // the worker may die before it takes all of them
      return Promise.resolve();
    });
    assert.ok(await release(), "one was deployed, and its worker died before it could say so");
    const [before, shown] = [await countReleases(), await listShown()];
    assert.ok(shown.length > 0);
    worker.begin();
    await votes;
    const ends = await Promise.all(
      IDS.map(async (id) => await handleOf(id).result() as ArticleResult),
    );
    const late = (await listShown()).filter((id) => !shown.includes(id));
    assert.equal(await countReleases(), before + late.length, "no deployment is tried again");
    for (const { article_id, state, receipt_id } of ends) {
      const { slug, pageSha256, pageReceiptId } = await articleOf(article_id);
      const page = await readPage(`${slug}/index.html`);
      assert.equal(state, page ? "published" : "not_published");
      assert.equal(receipt_id === pageReceiptId, page !== undefined);
      if (page) assert.equal(hash("sha256", page), pageSha256);
      for (const path of ["index.html", "atom.xml", "sitemap.xml"]) {
        assert.equal((await readPage(path))!.includes(`${slug}/`), page !== undefined, path);
      }
      const receipts = await eventually(async () => {
        const all = await receiptsOf(article_id);
        return all.some(({ id }) => id === receipt_id) ? all : undefined;
      });
      assert.deepEqual(
        receipts.map(({ category }) => category).sort(),
        ["article_intended", page ? "article_published" : "article_ended"].sort(),
      );
      assert.equal(receipts.at(-1).details.file_sha256, page ? pageSha256 : undefined);
    }
    assert.ok(ends.some(({ state }) => state === "published"));
  });
});
