/**
 * The quality of retrieval: the share of held-out reports for which an article of their category is among the first one,
 * three and five. Nothing is trained or tuned on these reports. Measured are PostgreSQL's search by words beside the
 * classifier's index in memory, and the whole answer, which uses the classifier's category too.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PLATFORM_TENANT } from "../contract/domain/mod.ts";
import { ROOT } from "../config.ts";
import {
  createReportClassifier,
  openClassifier,
  openKnowledgeBase,
  readReports,
} from "../judgement/engine/mod.ts";
import { openStore } from "../store/mod.ts";
import { testDatabase } from "../test/_servers.ts";
import { createLog } from "../runtime/web/mod.ts";
import type { Figure } from "./_figures.ts";

const RANKS = [1, 3, 5];

/** Returns the categories of the articles that are found for a report, best first. */
type Search = (report: string) => Promise<readonly (string | undefined)[]>;

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const database = await testDatabase();
  const store = openStore(database.urls.worker, "worker");
  const classifier = await openClassifier();
  const log = createLog("bench", "warn");
  const knowledge = openKnowledgeBase({ store, classifier, log });
  const classify = createReportClassifier({ classifier, knowledge, log });
  const categories = new Map(classifier.articles.map(({ id, category }) => [id, category]));
  const searchMemory: Search = (text) =>
    Promise.resolve(classifier.search(text).map(({ article }) => article.category));
  const searchWords: Search = async (text) =>
    (await knowledge.find(text, {
      tenant: PLATFORM_TENANT,
      kinds: ["article"],
      limit: Math.max(...RANKS),
    }))
      .map(({ category }) => category);
  const searchAnswer: Search = async (description) => {
    const answer = await classify({
      description,
      source: "bench",
      audience: "public",
      tenant: PLATFORM_TENANT,
    });
    return answer.rag_context.passages.map(({ id }) => categories.get(id));
  };
  const reports = readHeldOutReports();
  try {
    while (!await store.asPlatform().first("SELECT FROM knowledge_words LIMIT 1")) await sleep(50);
    const inMemory = await shares(reports, searchMemory);
    const byWords = await shares(reports, searchWords);
    const inAnswer = await shares(reports, searchAnswer);
    for (const [n, rank] of RANKS.entries()) {
      const label = `category among the first ${rank} of ${reports.length} held-out reports`;
      yield {
        label: `${label}, by words, %`,
        platform: [byWords[n]!],
        baseline: [inMemory[n]!],
        baselineLabel: "BM25 in memory",
      };
      yield { label: `${label}, in the answer, %`, platform: [inAnswer[n]!] };
    }
  } finally {
    await knowledge.close();
    await store.close();
    await database.drop();
  }
}

function readHeldOutReports() {
  const folder = join(ROOT, "evals", "reports");
  return readdirSync(folder).filter((name) => name.startsWith("held_out"))
    .flatMap((name) => readReports(join(folder, name)));
}

/** Returns for each rank the share of reports whose category is found at it or above, %. */
async function shares(
  reports: readonly { readonly text: string; readonly category: string }[],
  search: Search,
): Promise<number[]> {
  const results: (readonly (string | undefined)[])[] = [];
  for (const { text } of reports) results.push(await search(text));
  return RANKS.map((rank) => {
    const hits = reports.filter(({ category }, n) => results[n]!.slice(0, rank).includes(category));
    return 100 * hits.length / reports.length;
  });
}
