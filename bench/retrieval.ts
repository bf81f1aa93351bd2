/**
 * How well retrieval does: in what share of the held-out reports, which nothing is learnt from and nothing was tuned by,
 * an article of the report's category is among the first one, three and five. In PostgreSQL by the words alone, beside
 * the classifier's index in memory; and as an answer comes out, with what the classifier takes the report for.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../config.ts";
import {
  createReportClassifier,
  openClassifier,
  openKnowledgeBase,
  readReports,
} from "../engine/mod.ts";
import { openStore } from "../store/mod.ts";
import { testDatabase } from "../test/_servers.ts";
import { createLog } from "../web/mod.ts";
import type { Figure } from "./_figures.ts";

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const database = await testDatabase();
  const store = openStore(database.urls.app, "app");
  const classifier = await openClassifier();
  const log = createLog("bench", "warn");
  const knowledge = openKnowledgeBase({ store, classifier, log });
  const judge = createReportClassifier({ classifier, knowledge, log });
  const categoryOf = new Map(classifier.articles.map(({ id, category }) => [id, category]));
  const reports = readdirSync(join(ROOT, "engine")).filter((name) => name.startsWith("held_out"))
    .flatMap((name) => readReports(join(ROOT, "engine", name)));
  const ways: Readonly<Record<string, (text: string) => Promise<(string | undefined)[]>>> = {
    memory: (text) =>
      Promise.resolve(classifier.search(text).map(({ article }) => article.category)),
    words: async (text) =>
      (await knowledge.find(text, { incidents: false, limit: 5 })).map(({ category }) => category),
    answer: async (description) =>
      (await judge({ description, source: "bench", audience: "public" })).rag_context.passages
        .map(({ id }) => categoryOf.get(id)),
  };
  try {
    while (!await store.asPlatform().first("SELECT FROM knowledge_words LIMIT 1")) await sleep(50);
    const found: Record<string, (string | undefined)[][]> = {};
    for (const [way, find] of Object.entries(ways)) {
      found[way] = [];
      for (const { text } of reports) found[way].push(await find(text));
    }
    const share = (way: string, first: number) => [
      100 * reports.filter(({ category }, at) =>
        found[way]![at]!.slice(0, first).includes(category)
      ).length / reports.length,
    ];
    for (const first of [1, 3, 5]) {
      const what = `category among the first ${first} of ${reports.length} held-out reports, %`;
      const bare = share("memory", first);
      yield { what, house: share("words", first), bare, baseline: "BM25 in memory" };
      yield { what: "… as the answer has them", house: share("answer", first) };
    }
  } finally {
    await knowledge.close();
    await store.close();
    await database.drop();
  }
}
