import { hostname } from "node:os";
import { Problem } from "../../contract/mod.ts";
import type { ArticleText } from "../../contract/domain/mod.ts";
import { EngineUnavailable } from "../../judgement/engine/mod.ts";
import {
  type FactBook,
  findSymptom,
  type KnowledgePassage,
  openScrubber,
  readPeriod,
  type Scrubber,
  type Symptom,
  writeKnowledgeArticle,
  writePeriodArticle,
  writeTicketArticle,
  writeTranscriptArticle,
} from "../../operations/articles/writing/mod.ts";
import { getTicket, listTicketEvents, type Ticket } from "../../store/incidents/mod.ts";
import {
  type ArticleRecord,
  getCategoryFigures,
  getPassage,
  getPeriodFigures,
  listPrivateNames,
} from "../../store/articles/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { getTranscript } from "../../store/media/mod.ts";

const FIGURE_DAYS = 30;
const MAX_QUESTION = 4_000;

type Parts = Pick<ActivityParts, "store" | "engine" | "runbooks">;

/** Returns what takes private names out of an article. */
export async function scrubberOf({ store }: Parts, { source }: ArticleRecord): Promise<Scrubber> {
  const names = await listPrivateNames(store.db);
  const ticket = source.kind === "ticket" ? await getTicket(store.db, source.id) : undefined;
  return openScrubber({
    own: ticket?.service ?? null,
    services: names.services,
    hosts: [...names.hosts, hostname()],
    people: names.people,
    others: [...names.others, ...store.tenant === "platform" ? [] : [store.tenant]],
  });
}

/** Writes an article by rules. @throws {Problem} `NotFound`: its source is gone */
export async function writeByRules(
  parts: Parts,
  article: ArticleRecord,
  book: FactBook,
): Promise<ArticleText> {
  const { source } = article;
  if (source.kind === "ticket") return await writeTicket(parts, article, book);
  if (source.kind === "knowledge") return await writeKnowledge(parts, source.id, book);
  if (source.kind === "period") return await writePeriod(parts, article, book);
  return await writeTranscript(parts, article, book);
}

async function writeTicket(
  parts: Parts,
  article: ArticleRecord,
  book: FactBook,
): Promise<ArticleText> {
  const { store, runbooks } = parts;
  const ticket = await getTicket(store.db, article.source.id);
  if (!ticket) throw new Problem("NotFound", `There is no ticket ${article.source.id}`);
  const [events, scrubber] = await Promise.all([
    listTicketEvents(store.db, ticket.ticket_id),
    scrubberOf(parts, article),
  ]);
  const code = events.find(({ kind }) => kind === "detected")?.data.code;
  const symptom = findSymptom(String(code ?? ""));
  return writeTicketArticle({
    ticket,
    events,
    runbooks: runbooks().runbooks,
    passage: await passageOf(parts, ticket, symptom),
    scrubber,
  }, book);
}

/** Returns the shipped article about a symptom, where it is of the ticket's category; else the nearest to people's words. */
async function passageOf(
  parts: Parts,
  ticket: Ticket,
  symptom: Symptom | undefined,
): Promise<KnowledgePassage | undefined> {
  const passage = symptom?.article && await getPassage(parts.store.db, symptom.article);
  const fits = passage && (ticket.category === null || ticket.category === passage.category);
  if (fits) return passage;
  const { title, description, outcome, resolution } = ticket;
  const words = [
    ...symptom ? [] : [title],
    description,
    ...outcome === "sealed" ? [] : [resolution ?? ""],
  ].join("\n").trim();
  return words === "" ? undefined : await findPassage(parts, words);
}

/** Returns the shipped article that is nearest to a text; undefined: none is, or the engine is away. */
async function findPassage(
  { engine, store }: Parts,
  text: string,
): Promise<KnowledgePassage | undefined> {
  try {
    const { passages } = await engine.search(text.slice(0, MAX_QUESTION), store.tenant);
    for (const { id } of passages) {
      const passage = await getPassage(store.db, id);
      if (passage?.kind === "article") return passage;
    }
    return undefined;
  } catch (error) {
    if (error instanceof EngineUnavailable) return undefined;
    throw error;
  }
}

async function writeKnowledge(
  { store }: Parts,
  id: string,
  book: FactBook,
): Promise<ArticleText> {
  const passage = await getPassage(store.db, id);
  if (passage?.kind !== "article") {
    throw new Problem("NotFound", `There is no article ${id} in the knowledge base`);
  }
  const figures = await getCategoryFigures(store.db, passage.category, FIGURE_DAYS);
  return writeKnowledgeArticle(passage, { days: FIGURE_DAYS, ...figures }, book);
}

async function writePeriod(
  parts: Parts,
  article: ArticleRecord,
  book: FactBook,
): Promise<ArticleText> {
  const { store, runbooks } = parts;
  const { id } = article.source;
  const period = readPeriod(id);
  if (!period) throw new Problem("NotFound", `${id} is no day, month or span of days`);
  const figures = await getPeriodFigures(store.db, period.from, period.to);
  const shipped = runbooks().runbooks.filter(({ origin }) => origin === "shipped");
  const titles = new Map(shipped.map(({ runbook, title }) => [runbook, title]));
  return writePeriodArticle(period, figures, titles, await scrubberOf(parts, article), book);
}

async function writeTranscript(
  parts: Parts,
  article: ArticleRecord,
  book: FactBook,
): Promise<ArticleText> {
  const { id } = article.source;
  const transcript = await getTranscript(parts.store.db, id);
  if (!transcript?.segments) throw new Problem("NotFound", `There is no transcript ${id}`);
  const { segments, seconds, receiptId } = transcript;
  const recording = { segments, seconds: seconds!, receiptId };
  return writeTranscriptArticle(recording, await scrubberOf(parts, article), book);
}
