/** The fourth rail: whether the articles that an action rests on are there, unchanged, about it, and from whom they say. */
import { createHash } from "node:crypto";
import type { StoredArticle, Surroundings } from "./_surroundings.ts";
import type { Finding, Objection, ValidateRequest } from "./types.ts";

const MOST = 50;

/** Holds each citation against the knowledge base. */
export function retrievalIntegrity(request: ValidateRequest, known: Surroundings): Finding {
  const cited = request.context?.citations ?? [];
  if (cited.length === 0) return { objections: [], notes: ["Nothing is cited"] };
  const objections: Objection[] = [];
  const ask = (code: string, reason: string, remedy: string) =>
    objections.push({ weight: "ask", code, reason, remedy });
  const again = "Retrieve again, and cite what the knowledge base holds.";
  if (known.articles === null) {
    ask(
      "no_knowledge",
      "There is no knowledge base that the citations could be held against",
      again,
    );
    return { objections, notes: [] };
  }
  if (cited.length > MOST) {
    ask(
      "too_many",
      `More than ${MOST} articles are cited`,
      "Cite the few that the action rests on.",
    );
  }
  const about = wordsOf(
    `${request.incident} ${String(request.action?.description ?? "")} ${
      String(request.action?.command ?? "")
    }`.slice(0, 8_000),
  );
  for (const { id, sha256 } of cited.slice(0, MOST)) {
    const versions = known.articles.filter((one) => one.id === id);
    const stored = versions.find((one) => one.sha256 === sha256);
    const name = id.slice(0, 80);
    if (versions.length === 0) ask("not_there", `There is no article ${name}`, again);
    else if (!stored) {
      ask("other_content", `Article ${name} is stored with another hash than is cited`, again);
    } else objections.push(...checked(stored, about, known.policy.bounds.min_relevance, again));
  }
  return {
    objections: objections.slice(0, 8),
    notes: objections.length > 0 ? [] : [`${cited.length} cited, each as it is stored`],
  };
}

function checked(
  article: StoredArticle,
  about: ReadonlySet<string>,
  least: number,
  again: string,
): Objection[] {
  const found: Objection[] = [];
  const hash = createHash("sha256").update(article.content).digest("hex");
  if (hash !== article.sha256) {
    found.push({
      weight: "deny",
      code: "tampered",
      reason:
        `Article ${article.id} was changed where it is stored: its text does not have its hash`,
      remedy: "Store the articles anew from what ships, and find out who changed them.",
    });
  }
  if (article.kind === "incident" && !article.resolved) {
    found.push({
      weight: "ask",
      code: "no_source",
      reason: `${article.id} says that it comes from a resolved ticket, and there is none`,
      remedy: again,
    });
  }
  const words = wordsOf(`${article.title} ${article.content}`);
  const shared = [...about].filter((word) => words.has(word)).length;
  if (about.size > 0 && shared / about.size < least) {
    found.push({
      weight: "ask",
      code: "not_relevant",
      reason: `Article ${article.id} has nothing to do with the incident`,
      remedy: "Cite an article about what is at fault.",
    });
  }
  return found;
}

function wordsOf(text: string): Set<string> {
  return new Set(
    text.toLowerCase().match(/[\p{L}\p{N}]{3,40}/gu)?.map((word) => word.slice(0, 7)) ?? [],
  );
}
