/** The knowledge base in the store: keeps its articles up to date, learns from resolved tickets, and searches. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { ROOT } from "../../config.ts";
import { SHARED_TENANT } from "../../contract/domain/mod.ts";
import { type Db, listen, type Listener, type Store } from "../../store/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import {
  addLearningItems,
  getPassageTexts,
  listUnlearntTickets,
  type PassageMatch,
  searchKnowledge,
  storeArticles,
  storeIncidents,
} from "../../store/learning/mod.ts";
import { sealArticleChange, sealLesson } from "./_learning_receipts.ts";
import { articlePassage, articleText, hashText, incidentPassage } from "./_passages.ts";
import { arbitrate, learningItem } from "./arbiter.ts";
import { type Article, cache, type Classifier, stemsOf } from "./classifier/mod.ts";

/** A passage that was found for a question. */
interface Treated {
  /** How much of the question it treats, ≥ 0. */
  readonly treatment: number;
}

/** A passage that was found, with its text. */
interface Passage extends Omit<PassageMatch, "nr"> {
  readonly text: string;
}

/** The passages to search. */
interface KnowledgeSearch {
  /** Passages are shared ones and this tenant's. */
  readonly tenant: string;
  readonly kinds: readonly Passage["kind"][];
  readonly limit: number;
}

/** Finds passages for a report. */
export interface KnowledgeBase {
  /** Returns passages, best first. While the store is away, there are articles alone, from memory. */
  find(text: string, wanted: KnowledgeSearch): Promise<Passage[]>;
  /** The same, with how much of the question each treats. */
  findAnswers(question: string, wanted: KnowledgeSearch): Promise<(Passage & Treated)[]>;
  /** Returns an article that ships with the product. */
  article(id: string): Passage | undefined;
  /** Settles when the articles are stored, so that citations can be looked up, or when that failed for now. */
  readonly stored: Promise<void>;
  close(): Promise<void>;
}

const ARTICLES_FOLDER = join(ROOT, "judgement", "engine", "knowledge");
const RETRY_MS = 2_000;
/** Pause after learning, so that tickets that are resolved together are learnt from together. */
const PAUSE_MS = 1_000;
/** Interval of looking for tickets whose notification was missed. */
const POLL_MS = 60_000;
const BATCH_SIZE = 100;
/** A search that takes longer is answered from memory, within the time limit of the whole answer. */
const SEARCH_TIMEOUT_MS = 500;

/** Opens the knowledge base: stores the articles, and learns from every resolved ticket that the arbiter trusts. */
export function openKnowledgeBase(
  { store, classifier, log }: {
    readonly store: Store;
    readonly classifier: Classifier;
    readonly log: Logger;
  },
): KnowledgeBase {
  const { articles } = classifier;
  const shipped = new Map(articles.map((article) => [article.id, shippedPassage(article)]));
  const texts = new Map([...shipped.values()].map(({ sha256, text }) => [sha256, text]));
  /** Tenants with tickets that nothing was learnt from so far. */
  const resolved = new Set<string>();
  let isStored = false;
  let isClosed = false;
  let listener: Listener | undefined;

  async function start(): Promise<void> {
    const passages = cache([ARTICLES_FOLDER], () => articles.map(articlePassage));
    await store.asTenant(SHARED_TENANT).transaction(async (trx) => {
      const change = await storeArticles(trx, passages);
      if (change) await sealArticleChange(trx, change);
    });
    isStored = true;
    const learnNew = oneAtATime(
      learn,
      (err) => log.warn({ err }, "Nothing could be learnt; trying again"),
    );
    const learnOf = (tenant: string) => {
      resolved.add(tenant);
      learnNew();
    };
    const learnAll = () => {
      void listTenants(store.asPlatform()).then((all) => all.forEach(learnOf), () => {});
    };
    listener = await listen(store, ["sealoop_resolved"], {
      onNotify: (_, tenant) => learnOf(tenant),
      onConnect: learnAll,
    });
    const timer = setInterval(() => isClosed ? clearInterval(timer) : learnAll(), POLL_MS);
    timer.unref();
  }

  async function learn(): Promise<void> {
    for (const tenant of resolved) {
      resolved.delete(tenant);
      await learnFromTickets(store.asTenant(tenant));
    }
  }

  /** Learns from the resolved tickets of a tenant, for that tenant alone. */
  async function learnFromTickets(db: Db): Promise<void> {
    for (;;) {
      const tickets = await listUnlearntTickets(db, BATCH_SIZE);
      const lessons = tickets.map((ticket) => {
        const description = `${ticket.title}. ${ticket.description}`;
        const { category } = classifier.classify({ description, source: "ticket" });
        const passage = incidentPassage(ticket, category);
        return {
          ticket,
          passage,
          item: learningItem(ticket, passage, arbitrate(ticket, category)),
        };
      });
      const applied = lessons.filter(({ item }) => item.state === "applied");
      await db.transaction(async (trx) => {
        await storeIncidents(trx, applied.map(({ passage }) => passage));
        await addLearningItems(trx, applied.map(({ item }) => item));
        for (const { ticket, passage } of applied) await sealLesson(trx, ticket, passage);
      });
      const others = lessons.filter(({ item }) => item.state !== "applied");
      await addLearningItems(db, others.map(({ item }) => item));
      if (tickets.length < BATCH_SIZE || isClosed) return;
    }
  }

  async function search(
    text: string,
    { tenant, kinds, limit }: KnowledgeSearch,
  ): Promise<Passage[]> {
    const db = store.asTenant(tenant);
    const found = await searchKnowledge(db, [...new Set(stemsOf(text))], { kinds, limit });
    const missing = found.filter(({ sha256 }) => !texts.has(sha256)).map(({ nr }) => nr);
    const fetched = missing.length > 0 ? await getPassageTexts(db, missing) : undefined;
    return found.map(({ nr, ...passage }) => ({
      ...passage,
      text: texts.get(passage.sha256) ?? fetched?.get(nr) ?? "",
    }));
  }

  function searchInMemory(text: string, { kinds, limit }: KnowledgeSearch): Passage[] {
    if (!kinds.includes("article")) return [];
    return classifier.search(text).slice(0, limit)
      .map(({ article, score }) => ({ ...shipped.get(article.id)!, score }));
  }

  const attempt = () =>
    start().catch((err) => log.warn({ err }, "The knowledge base can't be stored; trying again"));
  const stored = attempt();
  void (async () => {
    await stored;
    while (!isClosed && !listener) {
      await sleep(RETRY_MS, undefined, { ref: false });
      if (!isClosed) await attempt();
    }
  })();

  async function find(text: string, wanted: KnowledgeSearch): Promise<Passage[]> {
    if (!isStored) return searchInMemory(text, wanted);
    try {
      return await withTimeout(SEARCH_TIMEOUT_MS, search(text, wanted));
    } catch (err) {
      log.warn({ err }, "The knowledge base can't be searched; articles are found from memory");
      return searchInMemory(text, wanted);
    }
  }

  return {
    find,
    async findAnswers(question, wanted) {
      const found = await find(question, wanted);
      return found.map((one) => ({ ...one, treatment: classifier.treat(question, one) }));
    },
    article: (id) => shipped.get(id),
    stored,
    async close() {
      isClosed = true;
      await listener?.close();
    },
  };
}

function shippedPassage(article: Article): Passage {
  const { id, title, category } = article;
  const text = articleText(article);
  return { id, kind: "article", title, category, text, sha256: hashText(text), score: 0 };
}

/** Returns a function that runs `work`. Calls that come while it runs lead to one more run after it. */
function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void): () => void {
  let isRunning = false;
  let runAgain = false;
  return () => {
    runAgain = true;
    if (isRunning) return;
    isRunning = true;
    void (async () => {
      while (runAgain) {
        runAgain = false;
        await work().catch(onError);
        await sleep(PAUSE_MS, undefined, { ref: false });
      }
      isRunning = false;
    })();
  };
}

async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
