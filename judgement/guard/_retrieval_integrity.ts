/** The fourth rail: cited articles exist, are unchanged, are about the incident, and have the source they claim. */
import { createHash } from "node:crypto";
import type { PlatformState, StoredArticle } from "./_state.ts";
import type { Objection, RailResult, ValidateRequest } from "./types.ts";

const MAX_CITATIONS = 50;
const MAX_OBJECTIONS = 8;
const MAX_TEXT_LENGTH = 8_000;

const RETRIEVE_AGAIN = "Retrieve again, and cite what the knowledge base holds.";

/** Compares each citation with the knowledge base. */
export function retrievalIntegrity(request: ValidateRequest, state: PlatformState): RailResult {
  const citations = request.context?.citations ?? [];
  if (citations.length === 0) return { objections: [], notes: ["Nothing is cited"] };
  const objections: Objection[] = [];
  const ask = (code: string, reason: string, remedy: string) =>
    objections.push({ weight: "ask", code, reason, remedy });
  if (state.articles === null) {
    ask(
      "no_knowledge",
      "There is no knowledge base that the citations could be held against",
      RETRIEVE_AGAIN,
    );
    return { objections, notes: [] };
  }
  if (citations.length > MAX_CITATIONS) {
    ask(
      "too_many",
      `More than ${MAX_CITATIONS} articles are cited`,
      "Cite the few that the action rests on.",
    );
  }
  const about = wordsOf(
    `${request.incident} ${String(request.action?.description ?? "")} ${
      String(request.action?.command ?? "")
    }`.slice(0, MAX_TEXT_LENGTH),
  );
  for (const { id, sha256 } of citations.slice(0, MAX_CITATIONS)) {
    const versions = state.articles.filter((one) => one.id === id);
    const stored = versions.find((one) => one.sha256 === sha256);
    const name = id.slice(0, 80);
    if (versions.length === 0) ask("not_there", `There is no article ${name}`, RETRIEVE_AGAIN);
    else if (!stored) {
      ask(
        "other_content",
        `Article ${name} is stored with another hash than is cited`,
        RETRIEVE_AGAIN,
      );
    } else objections.push(...checkArticle(stored, about, state.policy.bounds.min_relevance));
  }
  return {
    objections: objections.slice(0, MAX_OBJECTIONS),
    notes: objections.length > 0 ? [] : [`${citations.length} cited, each as it is stored`],
  };
}

function checkArticle(
  article: StoredArticle,
  about: ReadonlySet<string>,
  minRelevance: number,
): Objection[] {
  const objections: Objection[] = [];
  const hash = createHash("sha256").update(article.content).digest("hex");
  if (hash !== article.sha256) {
    objections.push({
      weight: "deny",
      code: "tampered",
      reason:
        `Article ${article.id} was changed where it is stored: its text does not have its hash`,
      remedy: "Store the articles anew from what ships, and find out who changed them.",
    });
  }
  if (article.kind === "incident" && !article.resolved) {
    objections.push({
      weight: "ask",
      code: "no_source",
      reason: `${article.id} says that it comes from a resolved ticket, and there is none`,
      remedy: RETRIEVE_AGAIN,
    });
  }
  const words = wordsOf(`${article.title} ${article.content}`);
  const shared = [...about].filter((word) => words.has(word)).length;
  if (about.size > 0 && shared / about.size < minRelevance) {
    objections.push({
      weight: "ask",
      code: "not_relevant",
      reason: `Article ${article.id} has nothing to do with the incident`,
      remedy: "Cite an article about what is at fault.",
    });
  }
  return objections;
}

function wordsOf(text: string): Set<string> {
  return new Set(
    text.toLowerCase().match(/[\p{L}\p{N}]{3,40}/gu)?.map((word) => word.slice(0, 7)) ?? [],
  );
}
