/** Articles as the texts that are cited: what is hashed, stored, searched and shown is one and the same. */
import { createHash } from "node:crypto";
import type { Article } from "./knowledge.ts";

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

/** SHA-256 of a cited text, 64 hex characters. */
export function hashOfText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
