/** What is known, in the store: kept up to date, and searched. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../config.ts";
import {
  addLearningItems,
  type PassageMatch,
  type KnowledgeChange,
  listen,
  type Listener,
  getPassageTexts,
  type Db,
  type ResolvedTicket,
  searchKnowledge,
  type Store,
  storeArticles,
  storeIncidents,
  listUnlearntTickets,
} from "../store/mod.ts";
import type { Log } from "../web/mod.ts";
import { itemOf, rule } from "./arbiter.ts";
import type { Classifier } from "./classifier.ts";
import { keptOrMade } from "./kept.ts";
import { hashOfText, incidentOf, passageOf, stemsOf, textOf } from "./passages.ts";

/** A passage that was found, with its text. */
export interface Passage extends Omit<PassageMatch, "nr"> {
  readonly text: string;
}

/** Finds what is known of a report. */
export interface Knowledge {
  /**
   * Passages, best first. While the store is away, articles that ship with the product, from memory.
   *
   * @param incidents whether past incidents may be among them
   */
  find(
    text: string,
    options: { readonly incidents: boolean; readonly limit: number },
  ): Promise<Passage[]>;
  /** An article that ships with the product. */
  article(id: string): Passage | undefined;
  /** Settles when the articles are stored, so that what is cited can be looked up; or when that failed for now. */
  readonly kept: Promise<void>;
  close(): Promise<void>;
}

/** What is told of each change, within its transaction: so that it can be sealed. */
export interface Learning {
  articles(trx: Db, change: KnowledgeChange): Promise<void>;
  incident(
    trx: Db,
    ticket: ResolvedTicket,
    passage: { category: string; sha256: string },
  ): Promise<void>;
}

const SHIPPED = join(ROOT, "engine", "knowledge");
const RETRY_MS = 2_000;
/** Pause after learning, so that many tickets at once are learnt from together. */
const PAUSE_MS = 1_000;
/** How often it is looked for tickets whose notification was missed. */
const LOOK_MS = 60_000;
const BATCH = 100;
/** Within the time that a whole answer may take, there must be some left for answering from memory. */
const SEARCH_MS = 500;

/**
 * Opens the knowledge base: stores what ships, and learns from each ticket that is resolved, from now on and before, as
 * far as the arbiter trusts it.
 */
export function openKnowledge(
  { store, classifier, learning, log }: {
    readonly store: Store;
    readonly classifier: Classifier;
    readonly learning: Learning;
    readonly log: Log;
  },
): Knowledge {
  const { articles } = classifier;
  const shipped = new Map(articles.map((article) => {
    const { id, title, category } = article;
    const text = textOf(article);
    const kind = "article" as const;
    return [id, { id, kind, title, category, text, sha256: hashOfText(text), score: 0 }];
  }));
  const texts = new Map([...shipped.values()].map(({ sha256, text }) => [sha256, text]));
  let stored = false;
  let closed = false;
  let listener: Listener | undefined;

  async function keep(): Promise<void> {
    const passages = keptOrMade([SHIPPED], () => articles.map(passageOf));
    await store.asPlatform().transaction(async (trx) => {
      const change = await storeArticles(trx, passages);
      if (change) await learning.articles(trx, change);
    });
    stored = true;
    const look = oneAtATime(
      learn,
      (err) => log.warn({ err }, "Nothing could be learnt; trying again"),
    );
    listener = await listen(store, ["sealoop_resolved"], { onNotify: look, onConnect: look });
    const timer = setInterval(() => closed ? clearInterval(timer) : look(), LOOK_MS);
    timer.unref();
  }

  async function learn(): Promise<void> {
    for (;;) {
      const tickets = await listUnlearntTickets(store.asPlatform(), BATCH);
      const judged = tickets.map((ticket) => {
        const description = `${ticket.title}. ${ticket.description}`;
        const { category } = classifier.classify({ description, source: "ticket" });
        const passage = incidentOf(ticket, category);
        return { ticket, passage, item: itemOf(ticket, passage, rule(ticket, category)) };
      });
      const applied = judged.filter(({ item }) => item.state === "applied");
      await store.asPlatform().transaction(async (trx) => {
        await storeIncidents(trx, applied.map(({ passage }) => passage));
        await addLearningItems(trx, applied.map(({ item }) => item));
        for (const { ticket, passage } of applied) await learning.incident(trx, ticket, passage);
      });
      const others = judged.filter(({ item }) => item.state !== "applied");
      await addLearningItems(store.asPlatform(), others.map(({ item }) => item));
      if (tickets.length < BATCH || closed) return;
    }
  }

  async function search(text: string, incidents: boolean, limit: number): Promise<Passage[]> {
    const kinds = incidents ? ["article", "incident"] as const : ["article"] as const;
    const found = await searchKnowledge(store.asPlatform(), [...new Set(stemsOf(text))], { kinds, limit });
    const missing = found.filter(({ sha256 }) => !texts.has(sha256)).map(({ nr }) => nr);
    const more = missing.length > 0 ? await getPassageTexts(store.asPlatform(), missing) : undefined;
    return found.map(({ nr, ...passage }) => ({
      ...passage,
      text: texts.get(passage.sha256) ?? more?.get(nr) ?? "",
    }));
  }

  function remember(text: string, limit: number): Passage[] {
    return classifier.search(text).slice(0, limit)
      .map(({ article, score }) => ({ ...shipped.get(article.id)!, score }));
  }

  const attempt = () =>
    keep().catch((err) => log.warn({ err }, "The knowledge base can't be stored; trying again"));
  const kept = attempt();
  void (async () => {
    await kept;
    while (!closed && !listener) {
      await sleep(RETRY_MS, undefined, { ref: false });
      if (!closed) await attempt();
    }
  })();

  return {
    async find(text, { incidents, limit }) {
      if (!stored) return remember(text, limit);
      try {
        return await within(SEARCH_MS, search(text, incidents, limit));
      } catch (err) {
        log.warn({ err }, "The knowledge base can't be searched; articles are found from memory");
        return remember(text, limit);
      }
    },
    article: (id) => shipped.get(id),
    kept,
    async close() {
      closed = true;
      await listener?.close();
    },
  };
}

/** Runs `work` when called; calls that come while it runs lead to one more run after it. */
function oneAtATime(work: () => Promise<void>, failed: (error: unknown) => void): () => void {
  let running = false;
  let again = false;
  return () => {
    again = true;
    if (running) return;
    running = true;
    void (async () => {
      while (again) {
        again = false;
        await work().catch(failed);
        await sleep(PAUSE_MS, undefined, { ref: false });
      }
      running = false;
    })();
  };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
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
