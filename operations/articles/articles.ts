import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { getArticle, listPublishedArticles } from "../../store/articles/mod.ts";
import { Limit } from "../schemas/mod.ts";
import { Article, exampleArticle, SeoStatus, SessionId, toArticle, toStatus } from "./_schemas.ts";

/** Published articles, newest first. */
export const articleList = operation({
  name: "articles.list",
  group: "missions",
  summary: "List published articles, newest first",
  effect: "read",
  access: "public",
  input: z.object({ limit: Limit }),
  output: z.object({ total: z.number().int(), articles: z.array(Article) }),
  rest: { seo_articles: "GET /api/seo/articles" },
  example: { input: { limit: 1 }, output: { total: 1, articles: [exampleArticle] } },
  run: async ({ limit }, { store }) => {
    const { total, articles } = await listPublishedArticles(store.db, limit);
    return { total, articles: articles.map(toArticle) };
  },
});

/** Progress of an article. */
export const articleStatus = operation({
  name: "articles.status",
  group: "missions",
  summary: "Tell how far an article is: its steps, checks, approval and deployment",
  effect: "read",
  access: "key",
  input: z.object({ session_id: SessionId }),
  output: SeoStatus,
  rest: { seo_status: "GET /api/seo/status/{session_id}" },
  presentation: { untrusted: true, errors: ["NotFound"] },
  example: {
    input: { session_id: "seo-5b1e09c77a42" },
    output: {
      session_id: "seo-5b1e09c77a42",
      state: "review",
      steps: [{ step: "facts", state: "31 facts", at: "2026-07-01T12:00:00.000Z" }],
      article_id: exampleArticle.article_id,
      title: exampleArticle.title,
      written_by: "rules",
      approval_id: "APR-5b1e09c77a42",
      checks: [{ check: "title", passed: true, about: "57 characters, 10 to 60 wanted" }],
      deploy: null,
      receipt_id: null,
    },
  },
  run: async ({ session_id }, { store }) => {
    const article = await getArticle(store.db, session_id.replace(/^seo-/, "ART-"));
    if (!article) throw new Problem("NotFound", `There is no article ${session_id}`);
    return toStatus(article);
  },
});
