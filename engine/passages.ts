/** Articles and resolved tickets as the texts that are cited: what is hashed, stored and shown is one and the same. */
import { createHash } from "node:crypto";
import type { NewPassage, ResolvedTicket } from "../store/mod.ts";
import type { Article } from "./knowledge.ts";
import type { Category } from "./labels.ts";
import { wordsOf } from "./text.ts";

/** Letters by which words are told apart, so that endings do not matter. */
const STEM = 7;

/** Stems of a text, in order: of words in a plain form, so that capitals and marks on letters do not matter either. */
export function stemsOf(text: string): string[] {
  return wordsOf(text).filter((word) => word.length > 1 && !word.startsWith("#"))
    .map((word) => word.slice(0, STEM));
}

/** SHA-256 of a cited text, 64 hex characters. */
export function hashOfText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** An article as a passage. */
export function passageOf(article: Article): NewPassage {
  const { id, title, category, symptoms, causes, checks, fixes, words } = article;
  return {
    ...{ id, title, category },
    kind: "article",
    fault: null,
    ...cited(textOf(article)),
    ...found([
      [3, [title, ...Object.values(words).flat()]],
      [2, [...symptoms, ...article.applies_to]],
      [1, [...causes, ...checks, ...fixes]],
    ]),
  };
}

/** A resolved ticket as a passage. @param category as it was classified */
export function incidentOf(ticket: ResolvedTicket, category: Category): NewPassage {
  const { id, title, description, resolution, fingerprint } = ticket;
  const diagnosis = diagnosisOf(ticket);
  const lines = [
    title,
    description && `Reported: ${description}`,
    ticket.service && `Service: ${ticket.service}`,
    diagnosis && `Diagnosis: ${diagnosis}`,
    `Resolution: ${resolution ?? ticket.outcome ?? "resolved"}`,
  ];
  return {
    ...{ id, title, category },
    kind: "incident",
    fault: fingerprint,
    ...cited(lines.filter((line) => line).join("\n")),
    ...found([[3, [title]], [2, [description]], [1, [diagnosis, resolution ?? ""]]]),
  };
}

/** What the last diagnosis said, as `cause http_500, action restart`. */
function diagnosisOf({ diagnoses }: ResolvedTicket): string {
  const { round: _, ...last } = diagnoses.at(-1) ?? {};
  return Object.entries(last).filter(([, value]) => typeof value === "string")
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", ");
}

/** An article as one text, the most telling first. */
export function textOf(article: Article): string {
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

function cited(content: string) {
  return { content, sha256: hashOfText(content) };
}

/** How much more a part tells than another. */
type Part = readonly [weight: number, texts: readonly string[]];

/** Saturation of repeated words, and how much long passages are held back. @see Robertson and Zaragoza, 2009 */
const K1 = 1.2;
const B = 0.5;
/** Weighted words of a usual article. */
const USUAL = 350;

/** What a passage is found by: how much it speaks of each stem (BM25 without the rarity, which the store knows). */
function found(parts: readonly Part[]) {
  const counts = new Map<string, number>();
  let length = 0;
  for (const [weight, texts] of parts) {
    for (const stem of texts.flatMap(stemsOf)) {
      counts.set(stem, (counts.get(stem) ?? 0) + weight);
      length += weight;
    }
  }
  const held = K1 * (1 - B + B * length / USUAL);
  const terms = Object.fromEntries(
    [...counts].map(([stem, n]) => [stem, Math.round(1_000 * n * (K1 + 1) / (n + held)) / 1_000]),
  );
  return { terms, indexed: hashOfText(JSON.stringify(terms)) };
}
