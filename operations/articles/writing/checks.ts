/** The checks that an article has to pass before a person is asked. */
import type {
  ArticleCheck,
  ArticleFact,
  ArticleSource,
  ArticleText,
} from "../../../contract/domain/mod.ts";
import {
  checkLanguage,
  checkLikeness,
  checkOwnWords,
  checkReadability,
  checkResult,
} from "./_prose_checks.ts";
import { articleWords } from "./page.ts";
import type { Scrubber } from "./private_names.ts";

/** Context that an article is checked against. */
export interface CheckContext {
  readonly page: string;
  readonly url: string;
  readonly keyword: string | null;
  readonly source: ArticleSource["kind"];
  readonly facts: readonly ArticleFact[];
  readonly scrubber: Scrubber;
  /** Other articles that are published, or about to be. */
  readonly others: readonly { readonly id: string; readonly content: ArticleText }[];
  readonly slugTaken: boolean;
  /** Addresses outside of the site that the page may link to. */
  readonly knownLinks: ReadonlySet<string>;
}

const MAX_TITLE = 60;
const DESCRIPTION = [70, 155] as const;
const MIN_WORDS = 120;

/** Checks an article. All checks are made, whichever fail. */
export function checkArticle(text: ArticleText, context: CheckContext): ArticleCheck[] {
  const own = ownSentences(text, context);
  return [
    checkLength("title", text.title, 10, MAX_TITLE),
    checkLength("description", text.description, ...DESCRIPTION),
    checkSlug(context),
    checkHeadings(context),
    checkLinks(context),
    checkImages(context),
    checkKeyword(text, context),
    checkFacts(text, context),
    checkPrivate(text, context),
    checkLengthOfText(text),
    checkOwnWords(own, context.source),
    checkLanguage(own),
    checkReadability(text),
    checkLikeness(text, context.others),
    checkStructuredData(text, context),
    checkCanonical(context),
  ];
}

function checkLength(check: string, text: string, min: number, max: number): ArticleCheck {
  const { length } = [...text];
  return checkResult(
    check,
    length >= min && length <= max,
    `${length} characters, ${min} to ${max} wanted`,
  );
}

function checkSlug({ slugTaken, url }: CheckContext): ArticleCheck {
  return checkResult(
    "slug",
    !slugTaken,
    slugTaken ? `${url} is another article's` : `${url} is free`,
  );
}

function checkHeadings({ page }: CheckContext): ArticleCheck {
  const levels = [...page.matchAll(/<h([1-6])[\s>]/g)].map(([, level]) => Number(level));
  const first = levels.filter((level) => level === 1).length;
  const skips = levels.some((level, n) => level > (levels[n - 1] ?? 0) + 1);
  return checkResult(
    "headings",
    first === 1 && !skips,
    `${first} of level 1, ${levels.length} in all`,
  );
}

function checkLinks({ page, knownLinks, url }: CheckContext): ArticleCheck {
  const links = [...page.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href!);
  const dead = links.filter((href) =>
    href !== "../" && href !== url && !knownLinks.has(href.replaceAll("&amp;", "&"))
  );
  return checkResult(
    "links",
    dead.length === 0,
    dead.length === 0 ? `${links.length} resolve` : `These lead nowhere: ${dead.join(", ")}`,
  );
}

function checkImages({ page }: CheckContext): ArticleCheck {
  const images = page.match(/<img [^>]*>/g) ?? [];
  const bare = images.filter((tag) => !/\balt="[^"]+"/.test(tag));
  return checkResult(
    "alt_texts",
    bare.length === 0,
    `${images.length} pictures, ${bare.length} without`,
  );
}

function checkKeyword(text: ArticleText, { keyword }: CheckContext): ArticleCheck {
  if (keyword === null) return checkResult("keyword", true, "None is wanted");
  const all = [text.description, ...articleWords(text)].join(" ").toLowerCase();
  const isThere = keyword.toLowerCase().split(/\s+/).every((word) => all.includes(word));
  return checkResult(
    "keyword",
    isThere,
    isThere ? "The text has it" : `The text does not speak of ${keyword}`,
  );
}

const sentencesOf = ({ sections }: ArticleText) =>
  sections.flatMap(({ blocks }) => blocks.flatMap(({ sentences }) => sentences));

function checkFacts(text: ArticleText, { facts }: CheckContext): ArticleCheck {
  const known = new Set(facts.map(({ n }) => n));
  const sentences = sentencesOf(text);
  const loose = sentences.filter((one) =>
    one.facts.length === 0 || one.facts.some((n) => !known.has(n))
  );
  return checkResult(
    "facts",
    loose.length === 0,
    loose.length === 0
      ? `${sentences.length} sentences rest on ${facts.length} facts`
      : `Nothing supports: ${loose[0]!.text}`,
  );
}

/** Returns the sentences that do not rest on shipped texts alone. */
function ownSentences(text: ArticleText, { facts }: CheckContext): string[] {
  const shipped = new Set(facts.filter((fact) => fact.shipped).map(({ n }) => n));
  return sentencesOf(text).filter((one) => one.facts.some((n) => !shipped.has(n)))
    .map((one) => one.text);
}

/** Looks for private names. A sentence from shipped texts alone may have any word: it names nobody. */
function checkPrivate(text: ArticleText, context: CheckContext): ArticleCheck {
  const { scrubber } = context;
  const found = [text.title, text.description, ...ownSentences(text, context)]
    .flatMap((one) => scrubber.find(one));
  const count = new Set(found).size;
  return checkResult(
    "private",
    count === 0,
    count === 0 ? "No private name is left" : `${count} private names are left`,
  );
}

function checkLengthOfText(text: ArticleText): ArticleCheck {
  const { length } = articleWords(text);
  return checkResult(
    "length",
    length >= MIN_WORDS,
    `${length} words, at least ${MIN_WORDS} wanted`,
  );
}

function checkStructuredData(text: ArticleText, { page, url }: CheckContext): ArticleCheck {
  const json = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(page)?.[1];
  const data = json ? JSON.parse(json) as Record<string, unknown> : {};
  const wanted = data["@type"] === "TechArticle" && data.headline === text.title &&
    data.mainEntityOfPage === url && typeof data.datePublished === "string";
  return checkResult("structured_data", wanted, wanted ? "TechArticle" : "It is not complete");
}

function checkCanonical({ page, url }: CheckContext): ArticleCheck {
  const canonical = /<link rel="canonical" href="([^"]*)">/.exec(page)?.[1];
  return checkResult("canonical", canonical === url, canonical ?? "There is none");
}
