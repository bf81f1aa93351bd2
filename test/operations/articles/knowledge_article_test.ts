import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import {
  openFactBook,
  slugOf,
  writeKnowledgeArticle,
} from "../../../operations/articles/writing/mod.ts";
import { ROOT } from "../../../config.ts";

const FOLDER = join(ROOT, "judgement", "engine", "knowledge");
const FIGURES = { days: 30, opened: 0, healed: 0, median_ms: null };

describe("articles about the knowledge base", () => {
  it("have whole titles of 60 characters at most, each of its own", () => {
    const passages = readdirSync(FOLDER).flatMap((name): { id: string; title: string }[] =>
      parse(readFileSync(join(FOLDER, name), "utf8"))
    );
    const titles: Record<string, string> = parse(
      readFileSync(join(ROOT, "operations", "articles", "writing", "titles.yaml"), "utf8"),
    );
    const long = passages.filter(({ title }) => title.trim().length > 60).map(({ id }) => id);
    assert.deepEqual(
      Object.keys(titles).sort(),
      long.sort(),
      "operations/articles/writing/titles.yaml",
    );
    const slugs = passages.map(({ id, title }) => {
      const passage = { id, title: title.trim(), kind: "article", category: "other", text: "" };
      const article = writeKnowledgeArticle(passage as never, FIGURES, openFactBook());
      assert.ok(article.title.length >= 10 && article.title.length <= 60, article.title);
      return slugOf(article.title);
    });
    assert.equal(new Set(slugs).size, slugs.length);
  });
});
