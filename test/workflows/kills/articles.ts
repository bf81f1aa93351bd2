/** Articles: they are written, and deployed to a site. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { once } from "node:events";
import { readdir, readlink } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { type ArticleResult, articleWorkflowId, WORKFLOW } from "../../../contract/domain/mod.ts";
import { readSiteFile } from "../../../operations/articles/writing/mod.ts";
import { addArticle, type ArticleRecord, getArticle } from "../../../store/articles/mod.ts";
import type { KeyRecord } from "../../../store/keys/mod.ts";
import { freePort } from "../../_run.ts";
import { eventually } from "../../_time.ts";
import type { KillSubject, Stage } from "../_kill_stage.ts";
import type { LoopBench } from "../_loop_bench.ts";
import { createApprover, vote } from "../_people.ts";
import { readReceipts } from "../_ticket_record.ts";

const ARTICLES = {
  "ART-0000000000a1": "database-connections-exhausted",
  "ART-0000000000b2": "dns-internal-resolver-down",
};
const IDS = Object.keys(ARTICLES) as (keyof typeof ARTICLES)[];

let site: Server;
let folder: string;
let ann: KeyRecord;

/** Kills of articles. */
export const articleKills: KillSubject = {
  async open() {
    const port = await freePort();
    site = createServer(async (request, response) => {
      const page = await readPage(`${request.url!.slice("/articles/".length)}index.html`);
      response.writeHead(page ? 200 : 404).end(page);
    }).listen(port, "127.0.0.1");
    await once(site, "listening");
    return { SEALOOP_ARTICLES_URL: `http://127.0.0.1:${port}/articles` };
  },
  async prepare({ store, dataDir }) {
    folder = join(dataDir, "articles");
    ann = await createApprover(store, "ann");
  },
  close() {
    site?.close();
    site?.closeAllConnections();
  },
  rows: [{
    name:
      "articles in the middle of writing are written and asked about once, and between intent and comparison end as the site is, which is whole, and nothing is done twice",
    async run(stage) {
      const { bench } = stage;
      const writing = await holdAfter(stage, "writeArticle");
      const runs = await Promise.all(IDS.map((id) => start(stage, id)));
      await stage.replaced(writing.first);
      for (const id of IDS) {
        const { checks, approvalId } = await eventually(async () => {
          const article = await articleOf(bench, id);
          return article.approvalId || article.state === "refused" ? article : undefined;
        });
        assert.deepEqual(checks!.filter(({ passed }) => !passed), []);
        assert.equal(approvalId, approvalOf(id));
      }
      assert.equal(await release(), undefined);

      await stage.othersAreReady(); // an attempt that is held has a minute
      const deploying = await holdAfter(stage, "deployArticle");
      const votes = Promise.all(IDS.map((id) => vote(bench, approvalOf(id), "approved", ann)));
      votes.catch(() => {}); // the worker may die before it takes all of them
      await stage.killed(deploying.first);
      assert.ok(await release(), "one was deployed, and its worker died before it could say so");
      const [before, shown] = [await countReleases(), await listShown(bench)];
      assert.ok(shown.length > 0);
      await stage.next();
      await votes;
      const ends: ArticleResult[] = await Promise.all(runs.map((run) => run.result()));
      const late = (await listShown(bench)).filter((id) => !shown.includes(id));
      assert.equal(await countReleases(), before + late.length, "no deployment is tried again");
      for (const end of ends) await assertEnd(bench, end);
      assert.ok(ends.some(({ state }) => state === "published"));
    },
  }],
};

/** Checks that an article ended as its site is. */
async function assertEnd(
  bench: LoopBench,
  { article_id, state, receipt_id }: ArticleResult,
): Promise<void> {
  const { slug, pageSha256, pageReceiptId } = await articleOf(bench, article_id);
  const page = await readPage(`${slug}/index.html`);
  assert.equal(state, page ? "published" : "not_published");
  assert.equal(receipt_id === pageReceiptId, page !== undefined);
  if (page) assert.equal(hash("sha256", page), pageSha256);
  for (const path of ["index.html", "atom.xml", "sitemap.xml"]) {
    assert.equal((await readPage(path))!.includes(`${slug}/`), page !== undefined, path);
  }
  const receipts = await eventually(async () => {
    const all = (await readReceipts(bench.store)).filter(({ subject }) => subject === article_id);
    return all.some(({ id }) => id === receipt_id) ? all : undefined;
  });
  assert.deepEqual(
    receipts.map(({ category }) => category).sort(),
    ["article_intended", page ? "article_published" : "article_ended"].sort(),
  );
  assert.equal(receipts.at(-1)!.details.file_sha256, page ? pageSha256 : undefined);
}

async function start({ bench, start }: Stage, id: keyof typeof ARTICLES) {
  await addArticle(bench.store.db, {
    id,
    source: { kind: "knowledge", id: ARTICLES[id] },
    keyword: null,
    slug: null,
    pageReceiptId: `page${id.slice(-12)}`,
    requestedBy: "test",
    requestedByKey: null,
  });
  return await start(WORKFLOW.seo, articleWorkflowId(id), { article_id: id });
}

/** Holds both after an activity. @returns resolves when one is there */
async function holdAfter({ hold }: Stage, activity: string): Promise<{ first: Promise<void> }> {
  const runs = IDS.map(articleWorkflowId);
  const holds = await Promise.all(runs.map((run) => hold({ run, when: "after", activity })));
  return { first: Promise.race(holds.map(({ reached }) => reached)) };
}

function approvalOf(id: string): string {
  return id.replace("ART", "APR");
}

async function articleOf({ store }: LoopBench, id: string): Promise<ArticleRecord> {
  return (await getArticle(store.db, id))!;
}

/** Lists the articles that readers get. */
async function listShown(bench: LoopBench): Promise<string[]> {
  const pages = await Promise.all(
    IDS.map(async (id) => await readPage(`${(await articleOf(bench, id)).slug}/index.html`)),
  );
  return IDS.filter((_, n) => pages[n] !== undefined);
}

function readPage(path: string) {
  return readSiteFile(folder, "platform", path);
}

/** Returns the release that the site shows. */
async function release(): Promise<string | undefined> {
  return await readlink(join(folder, "platform", "current")).catch(() => undefined);
}

async function countReleases(): Promise<number> {
  return (await readdir(join(folder, "platform", "releases"))).length;
}
