/** Articles and resolved tickets as passages: the text that is cited is the one that is hashed, stored and shown. */
import { createHash } from "node:crypto";
import type { NewPassage, ResolvedTicket } from "../../store/learning/mod.ts";
import { type Article, type Category, stemsOf } from "./classifier/mod.ts";

/** Returns the SHA-256 of a cited text, 64 hex characters. */
export function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns an article as a passage. */
export function articlePassage(article: Article): NewPassage {
  const { id, title, category, applies_to, symptoms, causes, checks, fixes, words } = article;
  return {
    id,
    title,
    category,
    kind: "article",
    fault: null,
    ...hashedContent(articleText(article)),
    ...indexTerms([
      [3, [title, ...Object.values(words).flat()]],
      [2, [...symptoms, ...applies_to]],
      [1, [...causes, ...checks, ...fixes]],
    ]),
  };
}

/** Returns a resolved ticket as a passage. @param category as the classifier takes it */
export function incidentPassage(ticket: ResolvedTicket, category: Category): NewPassage {
  const { id, title, description, resolution, fingerprint } = ticket;
  const diagnosis = lastDiagnosis(ticket);
  const lines = [
    title,
    description && `Reported: ${description}`,
    ticket.service && `Service: ${ticket.service}`,
    diagnosis && `Diagnosis: ${diagnosis}`,
    `Resolution: ${resolution ?? ticket.outcome ?? "resolved"}`,
  ];
  return {
    id,
    title,
    category,
    kind: "incident",
    fault: fingerprint,
    ...hashedContent(lines.filter((line) => line).join("\n")),
    ...indexTerms([[3, [title]], [2, [description]], [1, [diagnosis, resolution ?? ""]]]),
  };
}

/** Returns the last diagnosis as `cause http_500, action restart`. */
function lastDiagnosis({ diagnoses }: ResolvedTicket): string {
  const { round: _, ...last } = diagnoses.at(-1) ?? {};
  return Object.entries(last).filter(([, value]) => typeof value === "string")
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", ");
}

/** Returns an article as one text. */
export function articleText(article: Article): string {
  const { title, symptoms, causes, checks, fixes, escalate_when } = article;
  return [
    title,
    section("Symptoms", symptoms),
    section("Causes", causes),
    section("Checks", checks),
    section("Fixes", fixes),
    `Escalate when: ${escalate_when}`,
  ].join("\n");
}

function section(name: string, lines: readonly string[]): string {
  return `${name}:\n${lines.map((line) => `- ${line}`).join("\n")}`;
}

function hashedContent(content: string) {
  return { content, sha256: hashText(content) };
}

/** Texts, and how much their words count against those of other fields. */
type Field = readonly [weight: number, texts: readonly string[]];

/** BM25: saturation of repeated words, and penalty for long passages. @see Robertson and Zaragoza, 2009 */
const K1 = 1.2;
const B = 0.5;
/** Weighted words of an average article. */
const AVERAGE_LENGTH = 350;

/** Weighs the words that a passage is found by (BM25 without the rarity of words, which the store knows). */
function indexTerms(fields: readonly Field[]) {
  const counts = new Map<string, number>();
  let length = 0;
  for (const [weight, texts] of fields) {
    for (const stem of texts.flatMap(stemsOf)) {
      counts.set(stem, (counts.get(stem) ?? 0) + weight);
      length += weight;
    }
  }
  const saturation = K1 * (1 - B + B * length / AVERAGE_LENGTH);
  const terms = Object.fromEntries(
    [...counts].map((
      [stem, n],
    ) => [stem, Math.round(1_000 * n * (K1 + 1) / (n + saturation)) / 1_000]),
  );
  return { terms, indexed: hashText(JSON.stringify(terms)) };
}
