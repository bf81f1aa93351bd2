import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { settleOpenActs } from "../../activities/acts/mod.ts";
import { articleKind, deployKind } from "../../activities/articles/mod.ts";
import { bindArticles, bindMediaFiles, createRestApp } from "../../api/mod.ts";
import { createInvoke } from "../../calls/mod.ts";
import { recoverCall } from "../../calls/recover/mod.ts";
import { loadConfig } from "../../config.ts";
import { articleDeployWorkflowId, WORKFLOW } from "../../contract/domain/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { addArticle, getArticle, isSlugTaken } from "../../store/articles/mod.ts";
import { serve, serverNames } from "../../runtime/web/mod.ts";
import type { itsmTest } from "../../workflows/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { openPeople, type People } from "./_people.ts";
import { addTranscript, finishTranscript } from "../../store/media/mod.ts";

// deno-lint-ignore no-explicit-any -- whatever came over the wire
type Json = any;

/** A recording, sentence by sentence. */
const SAID = [
  "Let us go through last night, because I want us to learn from it.",
  "The backup of the night filled the disk.",
  "Nobody saw it, because the alarm for a full disk was set too high.",
  "Write to carol@acme.example if you have the old script for the backup.",
  "The host at 10.1.2.3 stopped to answer at three, and then the queue grew.",
  "We moved the old files of the backup to another disk, and the queue went down.",
  "After that the alarm was quiet, but it should have told us hours before.",
  "So we do two things now: the alarm comes at eighty percent, and not at ninety five.",
  "And the backup checks first whether there is room for it on the disk.",
  "If there is <b>no</b> room, it does not begin, and it tells us so.",
  "I will try that on the small machine this week, and then on all of them.",
  "Please read the runbook for the disk, and say what is missing in it.",
  "We look at the alarm again next week, and then we close this.",
];

describe("articles", () => {
  let people: People;
  let site: Awaited<ReturnType<typeof serve>>;
  let siteUrl: string;
  let ticketId: string;
  let ticketReceipt: string;
  let repository: string;

  before(async () => {
    const port = await freePort();
    siteUrl = `http://127.0.0.1:${port}/articles`;
    repository = join(await testFolder(), "site.git");
    git("init", "--bare", "--quiet", repository);
    people = await openPeople({
      SEALOOP_ARTICLES_URL: siteUrl,
      SEALOOP_ARTICLES_GIT: repository,
      SEALOOP_ARTICLES_GIT_BRANCH: "pages",
    });
    const app = createRestApp({
      operations: [],
      invoke: createInvoke(people.platform),
      http: {
        log: people.loop.log,
        trustedHops: 0,
        secure: false,
        names: serverNames(loadConfig({}).settings),
      },
      info: { title: "site", description: "The site of a test." },
      routes(router) {
        bindArticles(router, people.platform);
        bindMediaFiles(router, people.platform);
      },
    });
    site = await serve(app, loadConfig({}).settings, port);
    const { body } = await people.call("POST", "/v1/itsm/test", "admin", { scenario: "disk_full" });
    const drill = people.loop.client.workflow.getHandle<typeof itsmTest>(body.workflow_id);
    const { outcome, ticket_id, receipt_id } = await drill.result();
    assert.equal(outcome, "sealed");
    ticketId = ticket_id!;
    ticketReceipt = receipt_id!;
    await people.sealed(ticketReceipt);
  });
  after(async () => {
    await site?.close(0);
    await people?.stop();
  });

  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" });
  const generate = (source: object, more: object = {}, who = "admin") =>
    people.call("POST", "/api/seo/generate", who, { source, ...more });
  const status = async (id: string, who = "admin") =>
    (await people.call("GET", `/api/seo/status/${id}`, who)).body;
  const reach = (id: string, ...states: string[]): Promise<Json> =>
    people.eventually(async () => {
      const now = await status(id);
      return states.includes(now.state) &&
          (now.state === "review" ? now.approval_id : now.receipt_id)
        ? now
        : undefined;
    });
  const decide = async (id: string, how: "approve" | "deny") => {
    const { status: code, body } = await people.vote(id, how, "ann");
    assert.equal(code, 200, JSON.stringify(body));
  };
  async function receipts(): Promise<Json[]> {
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    return all.map(({ text }) => JSON.parse(text));
  }

  it("are written from a ticket, approved by somebody else, published as approved, and sealed", async () => {
    const { status: code, body } = await generate({ kind: "ticket", id: ticketId });
    assert.equal(code, 200, JSON.stringify(body));
    const waiting = await reach(body.session_id, "review", "refused");
    assert.equal(waiting.state, "review", JSON.stringify(waiting.checks));
    assert.ok(waiting.checks.every(({ passed }: Json) => passed));
    assert.equal((await fetch(`${siteUrl}/`)).status, 404, "nothing is published yet");
    const own = await people.vote(waiting.approval_id, "approve", "admin");
    assert.equal(own.status, 403, "nobody approves their own");
    await decide(waiting.approval_id, "approve");
    const done = await reach(body.session_id, "published", "not_published", "unknown");
    assert.equal(done.state, "published", JSON.stringify(done.deploy));

    const page = await (await fetch(done.deploy.url)).text();
    const sha256 = hash("sha256", page);
    assert.match(page, new RegExp(`<meta name="sealoop-receipt" content="${done.receipt_id}">`));
    assert.ok(!/test-[0-9a-f]{8}|127\.0\.0\.1:(?!\d+\/(?:articles|receipt))/.test(page));
    await people.sealed(done.receipt_id);
    const about = (await receipts()).filter(({ subject }) => subject === body.article_id);
    const published = about.find(({ id }) => id === done.receipt_id);
    assert.equal(published.details.file_sha256, sha256);
    const before = about.filter(({ id }) => id !== done.receipt_id);
    assert.ok(before.length > 0 && !JSON.stringify(before).includes(sha256));
    for (const name of ["", "atom.xml", "sitemap.xml"]) {
      const text = await (await fetch(`${siteUrl}/${name}`)).text();
      assert.ok(text.includes(done.deploy.url.split("/").at(-2)), name);
    }
    const { body: list } = await people.call("GET", "/api/seo/articles");
    assert.deepEqual([list.total, list.articles[0].sha256], [1, sha256]);
  });

  it("that are like one that is there are refused, and nobody is asked", async () => {
    const { body } = await generate({ kind: "ticket", id: ticketId });
    const refused = await reach(body.session_id, "review", "refused");
    assert.equal(refused.state, "refused");
    const failed = refused.checks.filter(({ passed }: Json) => !passed);
    assert.deepEqual(failed.map(({ check }: Json) => check), ["likeness"]);
    assert.equal(refused.approval_id, null);
  });

  it("that people deny are not published", async () => {
    const { body } = await generate({ kind: "knowledge", id: "database-connections-exhausted" });
    const waiting = await reach(body.session_id, "review", "refused");
    assert.equal(waiting.state, "review", JSON.stringify(waiting.checks));
    await decide(waiting.approval_id, "deny");
    const denied = await reach(body.session_id, "denied");
    assert.equal(denied.deploy, null);
    const deploy = { article_id: body.article_id };
    assert.equal((await people.call("POST", "/api/seo/deploy", "ann", deploy)).status, 409);
    const reopen = `/v1/approvals/${waiting.approval_id}/reopen`;
    assert.equal((await people.call("POST", reopen, "ann", {})).status, 409, "in vain");
  });

  it("of a day on which little happened are refused as too short", async () => {
    const day = new Date().toISOString().slice(0, 10);
    const { body } = await generate({ kind: "period", id: day });
    const state = await reach(body.session_id, "review", "refused");
    const failed = state.checks.filter(({ passed }: Json) => !passed);
    assert.deepEqual(failed.map(({ check }: Json) => check), ["length"]);
  });

  it("go through the pipeline: an idea, a draft, a review, and then the site", async () => {
    const post = (path: string, who: string, body: object = {}) =>
      people.call("POST", `/api/pipeline/${path}`, who, body);
    /** A busy worker takes the vote after 503. */
    const approveInReview = (id: string, who: string) =>
      people.eventually(async () => {
        const { status: code } = await post(`approve/${id}`, who);
        return code === 200 || code === 409 || undefined;
      });
    const source = { kind: "knowledge", id: "dns-internal-resolver-down" };
    const wish = { kind: "article", title: "When names do not resolve", source };
    const { body: item } = await post("capture", "program", wish);
    assert.equal(item.stage, "idea", JSON.stringify(item));
    assert.equal((await post(`approve/${item.item_id}`, "self")).status, 403, "the same holder");
    assert.equal((await post(`approve/${item.item_id}`, "program")).status, 403);
    assert.equal((await post(`approve/${item.item_id}`, "rival")).status, 404);
    const { body: drafted } = await post(`approve/${item.item_id}`, "ann", { reason: "Useful" });
    assert.match(drafted.article_id, /^ART-/, JSON.stringify(drafted));
    await reach(drafted.article_id.replace("ART-", "seo-"), "review");
    assert.equal((await post(`approve/${item.item_id}`, "self")).status, 403, "the same holder");
    await approveInReview(item.item_id, "bob");
    await reach(drafted.article_id.replace("ART-", "seo-"), "published");
    const { body: { stages } } = await people.call("GET", "/api/pipeline/board", "program");
    const published = stages.find(({ stage }: Json) => stage === "published").items;
    assert.deepEqual(published.map(({ item_id }: Json) => item_id), [item.item_id]);
    assert.equal((await post(`approve/${item.item_id}`, "bob")).status, 409);

    const [{ decision_id: decisionId, ids }] = await people.store.db.query(
      "SELECT decision_id, ids FROM call_effects WHERE ids ->> 'vote_id' IS NOT NULL",
    ) as [Json];
    assert.equal(ids.item_id, item.item_id);
    const lost = { operation: "pipeline.approve", since: new Date() };
    const found: Json = await recoverCall(people.platform, { ...lost, decisionId });
    assert.deepEqual([found.state, found.output.stage], ["done", "published"]);
    const none = await recoverCall(people.platform, { ...lost, decisionId: "GOV-000000000000" });
    assert.deepEqual(none, { state: "not_done" });

    const { body: note } = await post("capture", "program", { kind: "note", title: "Say hello" });
    assert.equal((await post(`approve/${note.item_id}`, "ann")).body.stage, "approved");
    const hello = { kind: "post", title: "Hello", text: "Hello, everybody" };
    const { body: waiting } = await post("capture", "program", hello);
    await approveInReview(waiting.item_id, "ann");
    const { stage, publishing } = await people.eventually(async () => {
      const { body: { items } } = await people.call("GET", "/api/pipeline/items", "program");
      const now = items.find(({ item_id }: Json) => item_id === waiting.item_id);
      return now.publishing && now.publishing.state !== "intended" ? now : undefined;
    });
    assert.deepEqual([stage, publishing.by], ["approved", "people"]);
    assert.match(publishing.about, /set SEALOOP_MASTODON_URL/);
    const { body: stats } = await people.call("GET", "/api/stats");
    assert.equal(stats.pipeline.published, 1);
    assert.ok(stats.seo.published >= 2 && stats.bridges.length > 0);
    assert.equal((await people.call("GET", "/api/pipeline/items")).status, 401);
    const { body: heard } = await people.call("GET", "/api/seo/transcripts", "program");
    assert.deepEqual(heard, { total: 0, transcripts: [] });
  });

  it("are committed to a git branch, once, and a branch of others is not overwritten", async () => {
    const { body: { articles } } = await people.call("GET", "/api/seo/articles");
    const { article_id, slug, sha256 } = articles.at(-1);
    const id = article_id.replace("ART-", "seo-");
    const deploy = async () => {
      const order = { article_id, target: "git" };
      const { status: code, body } = await people.call("POST", "/api/seo/deploy", "ann", order);
      assert.equal(code, 200, JSON.stringify(body));
      // While a run is open, another order would join it.
      await people.loop.client.workflow.getHandle(articleDeployWorkflowId(article_id)).result();
      return (await status(id)).deploy;
    };
    const done = await deploy();
    assert.deepEqual([done.target, done.state, done.code], ["git", "done", "same_bytes"]);
    const show = (path: string) => git("-C", repository, "show", `pages:${path}`);
    assert.equal(hash("sha256", show(`${slug}/index.html`)), sha256);
    assert.match(show("sitemap.xml"), new RegExp(slug));
    await people.sealed(done.receipt_id);
    const receipt = (await receipts()).find(({ id }) => id === done.receipt_id);
    assert.deepEqual([receipt.details.target, receipt.details.file_sha256], ["git", sha256]);

    assert.equal((await deploy()).state, "done");
    const count = () => git("-C", repository, "rev-list", "--count", "pages").trim();
    assert.equal(count(), "1", "nothing has changed");

    await writeFile(join(repository, "hooks", "pre-receive"), "#!/bin/sh\nexit 1\n", {
      mode: 0o755,
    });
    git("-C", repository, "update-ref", "-d", "refs/heads/pages");
    const refused = await deploy();
    assert.deepEqual([refused.state, refused.code], ["not_done", "not_found"]);
    assert.equal((await status(id)).state, "published", "it is on the site");
  });

  it("join an open deployment to the same place, and no other", async () => {
    const { body: { articles: [{ article_id }] } } = await people.call("GET", "/api/seo/articles");
    const run = await people.loop.client.workflow.start(WORKFLOW.seoDeploy, {
      taskQueue: "nobody",
      workflowId: articleDeployWorkflowId(article_id),
      args: [{ article_id, target: "folder" }],
      memo: { target: "folder" },
    });
    const deploy = (target: string) =>
      people.call("POST", "/api/seo/deploy", "ann", { article_id, target });
    const same = await deploy("folder");
    assert.deepEqual([same.status, same.body.run_id], [200, run.firstExecutionRunId]);
    const other = await deploy("git");
    assert.deepEqual([other.status, /to folder is not over/.test(JSON.stringify(other.body))], [
      409,
      true,
    ]);
    await run.terminate();
  });

  it("are not committed to the operator's branch by other tenants", async () => {
    const order = { article_id: "ART-000000000000", target: "git" };
    const { status: code, body } = await people.call("POST", "/api/seo/deploy", "rival", order);
    assert.deepEqual([code, /operator/.test(JSON.stringify(body))], [503, true]);
  });

  it("whose workflow or deployment nobody ends are ended once, and have one place on the site", async () => {
    const { db } = people.store;
    const { body: { articles: [{ article_id }] } } = await people.call(
      "GET",
      "/api/seo/articles",
    );
    const old = async (id: string, state: string) => {
      const source = { kind: "period", id: "2026-11" } as const;
      const by = { requestedBy: "ann", requestedByKey: null, pageReceiptId: id.slice(4) };
      await addArticle(db, { id, source, keyword: null, slug: `of-${id.slice(4)}`, ...by });
      await db.execute("UPDATE articles SET state = $2 WHERE id = $1", [id, state]);
    };
    await old("ART-0000000000a1", "writing");
    await old("ART-0000000000a2", "writing");
    await old("ART-0000000000a3", "not_published");
    assert.ok(await isSlugTaken(db, "of-0000000000a3", article_id));
    const order = { article_id: "ART-0000000000a3", target: "git" };
    assert.equal((await people.call("POST", "/api/seo/deploy", "ann", order)).status, 409);
    await db.execute(
      `UPDATE articles SET created_at = created_at - interval '1 hour',
         deploy = jsonb_set(deploy, '{state}', '"intended"') WHERE id = $1`,
      [article_id],
    );
    await db.execute(
      "UPDATE articles SET created_at = created_at - interval '1 hour' WHERE id = 'ART-0000000000a1'",
    );
    const settle = () => settleOpenActs(people.loop, { article: articleKind, deploy: deployKind });
    assert.equal(await settle(), 2);
    assert.equal(await settle(), 0);
    assert.equal(await getArticle(db, "ART-0000000000a1"), undefined, "it never began");
    assert.equal((await getArticle(db, "ART-0000000000a2"))!.state, "writing", "it is young");
    const { state, deploy } = (await getArticle(db, article_id))!;
    assert.deepEqual([state, deploy!.state, deploy!.code], ["published", "unknown", "not_seen"]);
    await people.sealed(deploy!.receipt_id);
    await db.execute("DELETE FROM articles WHERE id LIKE 'ART-0000000000a%'");
  });

  it("are written from a transcript, in which names are taken out", async () => {
    const segments = SAID.map((text, n) => ({ text, start: 4 * n, end: 4 * n + 3 }));
    const text = SAID.join(" ");
    const { db } = people.store;
    const id = "TRN-5b1e09c77a42";
    await addTranscript(db, { id, source: "review.wav", requestedBy: "operator" });
    assert.equal((await generate({ kind: "transcript", id })).status, 409, "it is not done");
    const made = { seconds: 52, text, vtt: "WEBVTT\n", segments, receiptId: ticketReceipt };
    await finishTranscript(db, id, made);
    const { body: { total, transcripts } } = await people.call(
      "GET",
      "/api/seo/transcripts",
      "program",
    );
    assert.deepEqual([total, transcripts[0].transcript_id, transcripts[0].text], [1, id, text]);
    assert.equal((await people.call("GET", "/api/seo/transcripts", "rival")).body.total, 0);

    const { body } = await generate({ kind: "transcript", id }, { keyword: "backup" });
    const waiting = await reach(body.session_id, "review", "refused");
    assert.equal(waiting.state, "review", JSON.stringify(waiting.checks));
    assert.equal(waiting.title, "What was said about disk, alarm and backup");
    await decide(waiting.approval_id, "approve");
    const { deploy } = await reach(body.session_id, "published", "not_published", "unknown");
    const page = await (await fetch(deploy.url)).text();
    assert.match(page, /The backup of the night filled the disk\./);
    assert.doesNotMatch(page, /carol@|10\.1\.2\.3|<b>/);
  });

  it("become posts within what a network allows, as does what the knowledge base has", async () => {
    const write = (body: object) => people.call("POST", "/api/social/content", undefined, body);
    const { body: { articles: [article] } } = await people.call("GET", "/api/seo/articles");
    let card: Json;
    for (const platform of ["x", "mastodon", "bluesky", "linkedin"]) {
      const { status: code, body } = await write({ article_id: article.article_id, platform });
      assert.equal(code, 200, JSON.stringify(body));
      assert.ok(body.length <= body.limit && body.text.includes(article.url), body.text);
      assert.ok(body.alt_text.length > 20 && body.written_by === "rules");
      card = body;
    }
    const picture = await fetch(siteUrl.replace("/articles", new URL(card.image_url).pathname));
    const bytes = Buffer.from(await picture.arrayBuffer());
    assert.deepEqual([picture.status, picture.headers.get("content-type")], [200, "image/png"]);
    assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1200, 630]);
    assert.equal(hash("sha256", bytes), card.image_sha256);
    await people.sealed(card.receipt_id);
    const receipt = (await receipts()).find(({ id }) => id === card.receipt_id);
    assert.equal(receipt.details.file_sha256, card.image_sha256);
    const { body } = await write({ topic: "too many clients already", platform: "bluesky" });
    assert.ok(body.text.length > 60 && [...body.text].length <= 300, body.text);
    assert.equal((await write({ platform: "x" })).status, 422);
    const draft = { article_id: "ART-000000000000", platform: "x" };
    assert.equal((await write(draft)).status, 404);
  });

  it("refuse what they can't be written from", async () => {
    const ticket = await people.call("POST", "/v1/itsm/tickets", "admin", {
      title: "Printer jams",
    });
    const cases: [object, number][] = [
      [{ kind: "ticket", id: "INC-000000000000" }, 404],
      [{ kind: "ticket", id: ticket.body.ticket_id }, 409],
      [{ kind: "knowledge", id: "nothing" }, 404],
      [{ kind: "period", id: "2026-02-30" }, 404],
      [{ kind: "transcript", id: "TRN-000000000000" }, 404],
      [{ kind: "web", id: "https://example.com" }, 422],
    ];
    for (const [source, code] of cases) {
      assert.equal((await generate(source)).status, code, JSON.stringify(source));
    }
    assert.equal((await generate({ kind: "ticket", id: ticketId }, {}, "rival")).status, 404);
  });
});
