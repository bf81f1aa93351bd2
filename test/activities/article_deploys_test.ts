import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import {
  approveArticleActivities,
  deployArticleActivities,
  writeArticleActivities,
} from "../../activities/articles/mod.ts";
import type { ActivityParts } from "../../activities/mod.ts";
import { readSiteFile } from "../../operations/articles/writing/mod.ts";
import { loadConfig } from "../../config.ts";
import type { DeployTarget } from "../../contract/domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import { addStop, removeStop } from "../../store/calls/mod.ts";
import { listMessages } from "../../store/notices/mod.ts";
import { addArticle, getArticle, moveArticle, setArticlePage } from "../../store/articles/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { testStore } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";
import { addTranscript, finishTranscript } from "../../store/media/mod.ts";

/** Refused attempts are expected. */
const QUIET = new DefaultLogger("ERROR");

const VOTE = { key_id: "key-of-ann", principal: "ann" };

describe("deployments of articles", () => {
  let store: Store;
  let close: () => Promise<void>;
  let site: Server;
  let parts: ActivityParts;
  let folder: string;
  let isAltered = false;

  before(async () => {
    const opened = await testStore();
    ({ store, close } = opened);
    const [port, data] = [await freePort(), await testFolder()];
    folder = join(data, "articles");
    const config = loadConfig({
      SEALOOP_DATA: data,
      SEALOOP_ARTICLES_GIT: join(data, "site.git"),
      SEALOOP_ARTICLES_URL: `http://127.0.0.1:${port}/articles`,
    });
    const urls = { gateway: "http://127.0.0.1:8080", ledger: "http://127.0.0.1:8082" };
    parts = { ...opened, config, urls } as unknown as ActivityParts;
    site = createServer(async ({ url }, response) => {
      const page = await readSiteFile(
        folder,
        "platform",
        `${url!.slice("/articles/".length)}index.html`,
      );
      response.writeHead(page ? 200 : 404).end(isAltered ? `${page} by a proxy` : page);
    }).listen(port, "127.0.0.1");
    await once(site, "listening");
  });
  after(async () => {
    site?.close();
    await close?.();
  });

  const articleOf = async (id: string) => (await getArticle(store.db, id))!;
  const isShown = async (id: string) =>
    await readSiteFile(folder, "platform", `${(await articleOf(id)).slug}/index.html`) !==
      undefined;

  /** Adds an article about which people are asked. @returns its id, and how they decide */
  async function asked(n: number) {
    const id = `ART-${String(n).padStart(12, "0")}`;
    const { db } = store;
    const text = { title: `Title ${n}`, description: "What it tells", sections: [], receipts: [] };
    const page = `<h1>Title ${n}</h1>`;
    await addArticle(db, {
      id,
      source: { kind: "period", id: "2026-11" },
      keyword: null,
      slug: null,
      pageReceiptId: String(n).padStart(16, "0"),
      requestedBy: "ann",
      requestedByKey: null,
    });
    const authorship = { written_by: "rules", provider: "local", dropped: [], fallback: null };
    await setArticlePage(db, id, {
      facts: [],
      content: text,
      authorship,
      slug: `title-${n}`,
      page,
      sha256: hash("sha256", page),
      salt: randomBytes(16),
      words: 2,
    });
    await moveArticle(db, id, ["writing"], { state: "review" });
    const { askAboutArticle, decideArticle } = approveArticleActivities(parts);
    const order = { article_id: id, run: { workflow_id: `seo-${n}`, run_id: "first" } };
    const { approval_id } = await askAboutArticle(order);
    const decide = async (status: "approved" | "denied") => {
      await asSuperuser(store).execute(
        "UPDATE approvals SET status = $2, approvers = $3 WHERE id = $1",
        [approval_id, status, JSON.stringify(status === "approved" ? [VOTE] : [])],
      );
      return (await decideArticle(order)).approved;
    };
    return { id, decide };
  }

  /** Adds an article that people have approved. */
  async function approved(n: number): Promise<string> {
    const { id, decide } = await asked(n);
    assert.equal(await decide("approved"), true);
    return id;
  }

  /** Returns the steps by which a run deploys an article. */
  function deployment(article_id: string, run_id = "first", target: DeployTarget = "folder") {
    const order = {
      article_id,
      target,
      run: { workflow_id: article_id.replace("ART", "seo"), run_id },
    } as const;
    const { intendDeploy, deployArticle, proveDeploy, sealDeploy, stopArticle } =
      deployArticleActivities(parts);
    return {
      intend: () => intendDeploy(order),
      act: () =>
        new MockActivityEnvironment(undefined, { logger: QUIET }).run(deployArticle, order),
      prove: () => proveDeploy(order),
      stop: () => stopArticle(order),
      seal: (end: Awaited<ReturnType<typeof proveDeploy>>) => sealDeploy({ ...order, ...end }),
    };
  }

  /** Lists the receipts that were requested about an article, but for those of its approval. */
  async function receiptsOf(id: string): Promise<string[]> {
    const rows = await asSuperuser(store).query<{ receipt: string }>(
      `SELECT concat_ws(' ', category, payload::json ->> 'outcome') AS receipt FROM seal_outbox
       WHERE payload::json ->> 'subject' = $1 ORDER BY seq`,
      [id],
    );
    return rows.map(({ receipt }) => receipt);
  }

  it("need people's approval of exactly this page, whatever a run says", async () => {
    const { id, decide } = await asked(10);
    const { intend, act, seal } = deployment(id);
    const refused = async () => {
      await assert.rejects(intend(), /Cannot deploy/);
      await assert.rejects(act(), /Cannot deploy/);
      await seal({ state: "done", code: "same_bytes" });
      assert.equal((await articleOf(id)).deploy, null);
    };
    await refused();
    const before = await articleOf(id);
    const { rephraseArticle, redactArticle } = writeArticleActivities(parts);
    const authorship = { ...before.authorship!, written_by: "somebody" };
    await rephraseArticle({ article_id: id, told: null, authorship });
    await redactArticle({ article_id: id });
    const after = await articleOf(id);
    assert.deepEqual([after.authorship, after.page], [before.authorship, before.page]);
    assert.equal(await decide("denied"), false);
    await refused();
    assert.deepEqual(await receiptsOf(id), []);
    const other = await approved(8);
    const setPage = "UPDATE articles SET page = $2, page_sha256 = $3 WHERE id = $1";
    await store.db.execute(setPage, [other, "Other", hash("sha256", "Other")]);
    await assert.rejects(deployment(other).intend(), /nobody has approved its page/);
  });

  it("are held by stops, as long as they apply", async () => {
    const { id, decide } = await asked(9);
    const superuser = asSuperuser(store);
    const stop = { kind: "tool", name: "articles.deploy", reason: "Not on Fridays" } as const;
    await superuser.transaction((trx) => addStop(trx, stop));
    assert.equal(await decide("approved"), false);
    const { state, steps } = await articleOf(id);
    assert.deepEqual([state, steps.at(-1)!.state], ["not_published", "stopped"]);
    const { intend, act, prove, seal } = deployment(id);
    await assert.rejects(intend(), /a stop applies/);
    await superuser.transaction((trx) => removeStop(trx, stop));
    await intend();
    await act();
    assert.equal((await seal(await prove())).state, "published");
  });

  it("that overlap leave each other's page on the site", async () => {
    const ids = [await approved(1), await approved(2)];
    const all = ids.map((id) => deployment(id));
    for (const one of all) await one.intend();
    for (const one of all) await one.act();
    for (const one of all) await one.seal(await one.prove());
    for (const id of ids) {
      assert.ok(await isShown(id));
      assert.equal((await articleOf(id)).state, "published");
    }
  });

  it("show nothing of an article that was erased while it was deployed", async () => {
    const [erased, other] = [await approved(21), await approved(22)];
    const [late, one] = [deployment(erased), deployment(other)];
    await late.intend();
    await asSuperuser(store).execute("UPDATE articles SET state = 'erased' WHERE id = $1", [
      erased,
    ]);
    await one.intend();
    await one.act();
    await assert.rejects(late.act(), /Cannot deploy/);
    assert.deepEqual([await isShown(erased), await isShown(other)], [false, true]);
  });

  it("are sealed once, although the seal is repeated", async () => {
    const id = await approved(3);
    const { intend, act, prove, seal } = deployment(id);
    await intend();
    await act();
    const end = await prove();
    const sealed = await seal(end);
    assert.equal(sealed.receipt_id, (await articleOf(id)).pageReceiptId);
    assert.deepEqual(await seal(end), sealed);
    assert.deepEqual(await receiptsOf(id), ["article_intended intended", "article_published done"]);
  });

  it("act no more once somebody has looked and found nothing", async () => {
    const id = await approved(4);
    const { intend, act, prove, seal } = deployment(id);
    await intend();
    const end = await prove();
    assert.equal(end.state, "not_done");
    await assert.rejects(act(), /its time is over/);
    const other = deployment(await approved(5));
    await other.intend();
    await other.act();
    assert.equal(await isShown(id), false);
    assert.equal((await seal(end)).state, "not_published");
    await assert.rejects(act(), /its time is over/);
  });

  it("that another run overtakes end as unknown, act no more, and people are told", async () => {
    const id = await approved(6);
    const [first, second] = [deployment(id), deployment(id, "second")];
    await first.intend();
    await second.intend();
    await second.intend();
    await assert.rejects(first.act(), /its time is over/);
    await first.seal({ state: "unknown", code: "not_seen" });
    await second.act();
    await second.seal(await second.prove());
    assert.equal((await articleOf(id)).state, "published");
    assert.deepEqual(await receiptsOf(id), [
      "article_intended intended",
      "article_ended unknown",
      "article_intended intended",
      "article_published done",
    ]);
    const { messages } = await listMessages(store.db, { kind: "article.unknown" }, 10);
    assert.deepEqual(messages.map(({ refs }) => refs.article_id), [id]);
    assert.match(messages[0]!.text, /safe to repeat/);
  });

  it("that end as unknown are told of once", async () => {
    const id = await approved(7);
    const { intend, seal } = deployment(id);
    await intend();
    for (let n = 0; n < 2; n++) await seal({ state: "unknown", code: "not_seen" });
    const { messages } = await listMessages(store.db, { kind: "article.unknown" }, 10);
    assert.equal(messages.filter(({ refs }) => refs.article_id === id).length, 1);
  });

  it("have a text into which late attempts put nothing back that was taken out", async () => {
    const { db } = store;
    const [id, transcript] = ["ART-0000000000a8", "TRN-0000000000a8"];
    const text = "Write to carol@acme.example if the queue grows.";
    await addTranscript(db, { id: transcript, source: "review.wav", requestedBy: "ann" });
    await finishTranscript(db, transcript, {
      seconds: 4,
      text,
      vtt: "WEBVTT\n",
      segments: [{ text, start: 0, end: 4 }],
      receiptId: "0000000000000000",
    });
    await addArticle(db, {
      id,
      source: { kind: "transcript", id: transcript },
      keyword: null,
      slug: null,
      pageReceiptId: "00000000000000a8",
      requestedBy: "ann",
      requestedByKey: null,
    });
    const { writeArticle, rephraseArticle, redactArticle } = writeArticleActivities(parts);
    const told = {
      claims: [{ text: "The mail of carol@acme.example told it.", evidence: [1] }],
      escalate: false,
    };
    const authorship = { written_by: "a model", provider: "local", dropped: [], fallback: null };
    const write = () => writeArticle({ article_id: id });
    const rephrase = () => rephraseArticle({ article_id: id, told: told as never, authorship });
    const contentOf = async () => JSON.stringify((await articleOf(id)).content);
    await write();
    await rephrase();
    assert.match(await contentOf(), /carol@/);
    await redactArticle({ article_id: id });
    const redacted = await contentOf();
    assert.doesNotMatch(redacted, /carol@/);
    await rephrase();
    await write();
    assert.equal(await contentOf(), redacted);
  });

  it("that are not done leave no page on the site, unless it was published before", async () => {
    const before = await approved(11);
    const first = deployment(before);
    await first.intend();
    await first.act();
    await first.seal(await first.prove());
    isAltered = true;
    const again = deployment(before, "second");
    await again.intend();
    await again.act();
    assert.equal((await again.prove()).code, "other_bytes");
    await again.seal(await again.prove());
    const ends: [number, (one: ReturnType<typeof deployment>) => Promise<unknown>, string][] = [
      [12, async ({ prove, seal }) => seal(await prove()), "not_published"],
      [13, ({ seal }) => seal({ state: "unknown", code: "not_seen" }), "unknown"],
      [14, ({ stop }) => stop(), "unknown"],
    ];
    for (const [n, end, state] of ends) {
      const id = await approved(n);
      const one = deployment(id);
      await one.intend();
      await one.act();
      assert.ok(await isShown(id));
      await end(one);
      assert.equal((await articleOf(id)).state, state);
      assert.equal(await isShown(id), false, state);
      const index = await readSiteFile(folder, "platform", "index.html");
      assert.ok(!index!.includes(`title-${n}`));
      await assert.rejects(deployment(id, "git", "git").intend(), /it is not on the site/);
    }
    isAltered = false;
    assert.equal((await articleOf(before)).state, "published");
    assert.ok(await isShown(before));
  });
});
