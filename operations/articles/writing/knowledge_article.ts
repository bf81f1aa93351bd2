import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../../config.ts";
import type { ArticleBlock, ArticleSection, ArticleText } from "../../../contract/domain/mod.ts";
import { type FactBook, paragraph, section, sentence } from "./_facts.ts";
import { entries, type KnowledgePassage, readPassage } from "./_passage.ts";
import { clip, clipTitle, count, formatDuration } from "./_words.ts";

/** Incidents of a category on this platform. */
export interface CategoryFigures {
  readonly days: number;
  readonly opened: number;
  readonly healed: number;
  /** Median; null: none was resolved. */
  readonly median_ms: number | null;
}

const MAX_TITLE = 60;
const TITLES: Readonly<Record<string, string>> = parse(
  readFileSync(join(ROOT, "operations", "articles", "writing", "titles.yaml"), "utf8"),
);

/** Writes the article about a shipped passage of the knowledge base by rules. */
export function writeKnowledgeArticle(
  passage: KnowledgePassage,
  figures: CategoryFigures,
  book: FactBook,
): ArticleText {
  const { id, category } = passage;
  const { symptoms, causes, checks, fixes, escalate } = readPassage(passage);
  const title = titleOf(passage);
  const about = book.add(`knowledge ${id}`, passage.title, true);
  const kind = book.add(`knowledge ${id}`, `It is a fault of the category ${category}.`, true);
  const lists = (sentences: ReturnType<typeof entries>): ArticleBlock => ({
    kind: "list",
    sentences,
  });
  const say = (text: string, ...facts: number[]) => paragraph([sentence(text, ...facts)]);
  const numbered = (texts: readonly string[]) => entries(book, id, texts);
  return {
    title,
    description: describe(passage.title),
    sections: [
      section(
        null,
        paragraph([
          sentence(
            `This page is about a fault of the category “${category}”: ${passage.title}`,
            about,
            kind,
          ),
          sentence(
            `It has ${count(symptoms.length, "sign")} to know the fault by, ${
              count(causes.length, "usual cause")
            }, ${count(checks.length, "check")} to find out which of them it is, and ${
              count(fixes.length, "way")
            } to mend it`,
            about,
          ),
          ...describeFigures(figures, book),
        ]),
      ),
      ...listed(
        "How to recognise it",
        say("People and logs report it in words like these:", about),
        lists(numbered(symptoms)),
      ),
      section("What causes it", lists(numbered(causes))),
      ...listed(
        "How to find out",
        say("These commands and questions tell the causes apart:", about),
        lists(numbered(checks)),
      ),
      ...listed(
        "How to mend it",
        say("Which of these helps depends on the cause that was found:", about),
        { kind: "steps", sentences: numbered(fixes) },
      ),
      section(
        "When to call for help",
        ...escalate ? [say(escalate, book.add(`knowledge ${id}`, escalate, true))] : [],
      ),
    ].filter(({ blocks }) => blocks.length > 0),
    receipts: [],
  };
}

/** Returns a list with its heading and a sentence before it; nothing where it is empty. */
function listed(heading: string, before: ArticleBlock, list: ArticleBlock): ArticleSection[] {
  return list.sentences.length === 0 ? [] : [section(heading, before, list)];
}

/** Returns a title of 60 characters at most. */
function titleOf({ id, title }: KnowledgePassage): string {
  return title.length <= MAX_TITLE ? title : TITLES[id] ?? clipTitle(title, MAX_TITLE);
}

function describe(title: string): string {
  const ends = [
    ": how to recognise it, what causes it, how to find out, and how to mend it safely.",
    ": signs, causes, checks that only read, and fixes.",
    ": signs, causes, checks and fixes.",
  ];
  const plain = title.replace(/[.:]\s*$/, "").replaceAll(": ", " – ");
  const fitting = ends.map((end) => plain + end).find((text) => text.length <= 155);
  return fitting ?? `${clip(plain, 120)}${ends[2]}`;
}

function describeFigures(
  { days, opened, healed, median_ms }: CategoryFigures,
  book: FactBook,
) {
  if (opened === 0) return [];
  const over = median_ms === null
    ? ""
    : opened === 1
    ? `, which was over within ${formatDuration(median_ms)}`
    : `, half of those that ended over within ${formatDuration(median_ms)}`;
  const all = opened === 1 ? "it" : "all of them";
  const byItself = healed > 0 ? `, and repaired ${healed === opened ? all : healed}` : "";
  const text = `In the last ${days} days this platform had ${
    count(opened, "incident")
  } of this category${over}${byItself}.`;
  return [sentence(text, book.add("figures", text))];
}
