/** Articles of a site that readers get from a branch in git. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readSiteFile } from "../../operations/articles/writing/mod.ts";
import { loadConfig } from "../../config.ts";
import { testFolder } from "../_run.ts";
import { openPeople, type People } from "./_people.ts";

// deno-lint-ignore no-explicit-any -- whatever came over the wire
type Json = any;

const SITE = "https://pages.example/incidents";

describe("articles of a site in git", () => {
  let people: People;
  let repository: string;
  before(async () => {
    repository = join(await testFolder(), "site.git");
    git("init", "--bare", "--quiet", repository);
    people = await openPeople({
      SEALOOP_ARTICLES_SITE: "git",
      SEALOOP_ARTICLES_GIT: repository,
      SEALOOP_ARTICLES_GIT_BRANCH: "pages",
      SEALOOP_ARTICLES_URL: SITE,
    });
  });
  after(() => people?.stop());

  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" });
  const show = (path: string) => git("-C", repository, "show", `pages:${path}`);
  /** Has an article written and approved. @returns its status once its deployment has ended */
  async function publish(id: string): Promise<Json> {
    const order = { source: { kind: "knowledge", id } };
    const { body } = await people.call("POST", "/api/seo/generate", "admin", order);
    const status = async () =>
      (await people.call("GET", `/api/seo/status/${body.session_id}`, "admin")).body;
    const { approval_id } = await people.eventually(async () => {
      const now = await status();
      return now.approval_id || now.state === "refused" ? now : undefined;
    });
    assert.equal((await people.vote(approval_id, "approve", "ann")).status, 200);
    return await people.eventually(async () => {
      const now = await status();
      return now.deploy && now.deploy.state !== "intended" ? now : undefined;
    });
  }
  const deploy = (article_id: string, more = {}) =>
    people.call("POST", "/api/seo/deploy", "ann", { article_id, ...more });

  it("are committed as people approve them, and are in no folder", async () => {
    const { state, article_id, deploy: { target, code, url } } = await publish(
      "dns-internal-resolver-down",
    );
    assert.deepEqual([state, target, code], ["published", "git", "same_bytes"]);
    const { body: { articles: [article] } } = await people.call("GET", "/api/seo/articles");
    assert.deepEqual([article.article_id, article.url], [article_id, url]);
    assert.equal(url, `${SITE}/${article.slug}/`);
    assert.equal(hash("sha256", show(`${article.slug}/index.html`)), article.sha256);
    assert.match(show("atom.xml"), new RegExp(url));
    const folder = join(people.loop.config.dataDir, "articles");
    assert.equal(await readSiteFile(folder, "platform", "index.html"), undefined);
    const toFolder = await deploy(article_id, { target: "folder" });
    assert.match(toFolder.body.detail, /readers get the articles from git/);
  });

  it("that the repository refuses are not published, and may be deployed there again", async () => {
    const hook = join(repository, "hooks", "pre-receive");
    await mkdir(join(repository, "hooks"), { recursive: true });
    await writeFile(hook, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const refused = await publish("database-connections-exhausted");
    assert.deepEqual([refused.state, refused.deploy.code], ["not_published", "not_found"]);
    await writeFile(hook, "#!/bin/sh\nexit 0\n");
    const { status, body } = await deploy(refused.article_id);
    assert.equal(status, 200, JSON.stringify(body));
    const done = await people.eventually(async () => {
      const { body: now } = await people.call(
        "GET",
        `/api/seo/status/${refused.session_id}`,
        "admin",
      );
      return now.state === "published" ? now : undefined;
    });
    assert.equal(done.deploy.target, "git");
    const { body: { articles } } = await people.call("GET", "/api/seo/articles");
    assert.equal(articles.length, 2);
    for (const { url } of articles) assert.match(show("sitemap.xml"), new RegExp(url));
  });

  it("need the repository, and the address where readers get it", () => {
    const load = (more: object) => () => loadConfig({ SEALOOP_ARTICLES_SITE: "git", ...more });
    assert.throws(load({}), /needs SEALOOP_ARTICLES_GIT/);
    assert.throws(load({ SEALOOP_ARTICLES_GIT: repository }), /SEALOOP_ARTICLES_URL/);
  });
});
