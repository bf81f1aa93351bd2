import { hash } from "node:crypto";
import type {
  AnswerDraft,
  AnswerRequest,
  ArticleAuthorship,
  ArticleOrder,
  ArticleSentence,
  ArticleText,
} from "../../contract/domain/mod.ts";
import {
  articleUrl,
  checkArticle,
  countWords,
  openFactBook,
  renderArticle,
  slugOf,
} from "../../operations/articles/writing/mod.ts";
import { commitTo } from "../../store/mod.ts";
import {
  isSlugTaken,
  listLiveArticles,
  moveArticle,
  noteArticleStep,
  setArticleChecks,
  setArticlePage,
  setArticleText,
} from "../../store/articles/mod.ts";
import { findReceipt, ReceiptNotFound } from "../../ledger/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { requireArticle, siteOf } from "./_article.ts";
import { scrubberOf, writeByRules } from "./_gather.ts";

const BY_RULES: ArticleAuthorship = {
  written_by: "rules",
  provider: "local",
  dropped: [],
  fallback: null,
};
/** The question to a model, which then only has the facts of the story. */
const QUESTION =
  "What happened in this incident, how was it found, and how did it end? Tell it in three to five short sentences for a " +
  "reader who was not there.";

/** Most facts of the story that a model gets. */
const MAX_EVIDENCE = 24;

/** Creates the activities that write and check an article. */
export function writeArticleActivities(parts: ActivityParts) {
  const { store, urls } = parts;
  const { db } = store;

  /**
   * Collects the facts of an article and writes it by rules. Safe to repeat: it writes the same place again.
   *
   * @returns what a model may be asked to tell; null: the article is no story
   */
  async function writeArticle(
    { article_id }: ArticleOrder,
  ): Promise<{ readonly facts: number; readonly request: AnswerRequest | null }> {
    const article = await requireArticle(db, article_id);
    const book = openFactBook();
    const content = await writeByRules(parts, article, book);
    await setArticleText(db, article_id, { facts: book.facts, content, authorship: BY_RULES });
    await noteArticleStep(db, article_id, "facts", `${book.facts.length} facts`);
    await noteArticleStep(db, article_id, "outline", `${content.sections.length} sections`);
    await noteArticleStep(db, article_id, "write", "by rules");
    const evidence = book.facts.filter(({ shipped }) => !shipped).slice(0, MAX_EVIDENCE)
      .map(({ n, from, text }) => ({ n, from: from.slice(0, 40), text: text.slice(0, 240) }));
    const isStory = article.source.kind === "ticket" && evidence.length > 0;
    return { facts: book.facts.length, request: isStory ? { prompt: QUESTION, evidence } : null };
  }

  /**
   * Puts a model's sentences, which were checked, in place of the first paragraph, or notes why the rules' text stays. Safe
   * to repeat.
   */
  async function rephraseArticle(
    { article_id, told, authorship }: ArticleOrder & {
      /** Null: what the model wrote does not hold, or it wrote nothing. */
      readonly told: AnswerDraft | null;
      readonly authorship: ArticleAuthorship;
    },
  ): Promise<void> {
    const { facts, content } = await requireArticle(db, article_id);
    await setArticleText(db, article_id, {
      facts,
      authorship,
      content: told === null ? content! : retell(content!, told),
    });
    const by = told === null ? "by rules, as the model failed" : "the story by a model";
    await noteArticleStep(db, article_id, "write", by);
  }

  /** Takes private names out of an article, and lays it out as a page. Safe to repeat: the first page stays. */
  async function redactArticle({ article_id }: ArticleOrder): Promise<void> {
    const article = await requireArticle(db, article_id);
    const { scrub } = await scrubberOf(parts, article);
    const shipped = new Set(article.facts.filter((fact) => fact.shipped).map(({ n }) => n));
    const content = mapSentences(
      article.content!,
      (one) =>
        one.facts.length > 0 && one.facts.every((n) => shipped.has(n))
          ? one
          : { ...one, text: scrub(one.text) },
    );
    const authorship = article.authorship!;
    const slug = article.slug ?? await freeSlug(content.title, article_id);
    const page = renderArticle(content, {
      ...siteOf(parts),
      ledgerUrl: urls.ledger,
      slug,
      receiptId: article.pageReceiptId,
      authorship,
      writtenAt: article.createdAt,
    });
    await setArticlePage(db, article_id, {
      facts: article.facts,
      content,
      authorship,
      slug,
      page,
      sha256: hash("sha256", page),
      salt: commitTo(page).salt,
      words: countWords(content),
    });
    await noteArticleStep(db, article_id, "redact", "done");
  }

  /** Returns a slug by a title; the article's id is part of it where another article has the title. */
  async function freeSlug(title: string, articleId: string): Promise<string> {
    const slug = slugOf(title);
    return await isSlugTaken(db, slug, articleId) ? `${slug}-${articleId.slice(-6)}` : slug;
  }

  /**
   * Checks an article: one that passes waits for a person, another is refused. Safe to repeat.
   *
   * @returns names of the checks that failed
   */
  async function reviewArticle({ article_id }: ArticleOrder): Promise<{ failed: string[] }> {
    const article = await requireArticle(db, article_id);
    const { content, page, slug, keyword, facts, pageReceiptId } = article;
    const links = await knownLinks([...content!.receipts.map(({ id }) => id)]);
    const checks = checkArticle(content!, {
      page: page!,
      url: articleUrl(siteOf(parts).siteUrl, slug!),
      keyword,
      source: article.source.kind,
      facts,
      scrubber: await scrubberOf(parts, article),
      others: await listLiveArticles(db, article_id),
      slugTaken: await isSlugTaken(db, slug!, article_id),
      knownLinks: new Set([...links, `${urls.ledger}/receipt/${pageReceiptId}`]),
    });
    await setArticleChecks(db, article_id, checks);
    const failed = checks.filter(({ passed }) => !passed).map(({ check }) => check);
    const state = failed.length === 0 ? "review" : "refused";
    await moveArticle(db, article_id, ["writing"], { state });
    await noteArticleStep(db, article_id, "check", failed.length === 0 ? "passed" : "failed");
    const after = await requireArticle(db, article_id);
    return { failed: after.state === "review" || failed.length > 0 ? failed : ["stopped"] };
  }

  /** Returns the addresses of those receipts that are in the ledger. */
  async function knownLinks(ids: readonly string[]): Promise<string[]> {
    const links = await Promise.all(ids.map(async (id) => {
      try {
        await findReceipt(store, id);
        return [`${urls.ledger}/receipt/${encodeURIComponent(id)}`];
      } catch (error) {
        if (error instanceof ReceiptNotFound) return [];
        throw error;
      }
    }));
    return links.flat();
  }

  return { writeArticle, rephraseArticle, redactArticle, reviewArticle };
}

/** Returns an article whose first paragraph is a model's. */
function retell(text: ArticleText, { claims }: AnswerDraft): ArticleText {
  const sentences = claims.map((claim) => ({ text: claim.text, facts: claim.evidence }));
  const [lead, ...sections] = text.sections;
  const blocks = [{ kind: "paragraph" as const, sentences }, ...lead!.blocks.slice(1)];
  return { ...text, sections: [{ ...lead!, blocks }, ...sections] };
}

function mapSentences(
  text: ArticleText,
  map: (one: ArticleSentence) => ArticleSentence,
): ArticleText {
  const sections = text.sections.map((section) => ({
    ...section,
    blocks: section.blocks.map((block) => ({ ...block, sentences: block.sentences.map(map) })),
  }));
  return { ...text, sections };
}
