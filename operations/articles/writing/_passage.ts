import type { ArticleSentence } from "../../../contract/domain/mod.ts";
import { type FactBook, sentence } from "./_facts.ts";

/** A passage of the knowledge base. */
export interface KnowledgePassage {
  readonly id: string;
  readonly kind: "article" | "incident";
  readonly category: string;
  readonly title: string;
  readonly text: string;
}

/** The lists of a shipped article. */
export interface PassageLists {
  readonly symptoms: readonly string[];
  readonly causes: readonly string[];
  readonly checks: readonly string[];
  readonly fixes: readonly string[];
  /** Empty: it says nothing. */
  readonly escalate: string;
}

const HEADINGS = {
  Symptoms: "symptoms",
  Causes: "causes",
  Checks: "checks",
  Fixes: "fixes",
} as const;

/** Reads a shipped article: the lists that its text has. */
export function readPassage({ text }: KnowledgePassage): PassageLists {
  const lists: Record<keyof Omit<PassageLists, "escalate">, string[]> = {
    symptoms: [],
    causes: [],
    checks: [],
    fixes: [],
  };
  let current: string[] | undefined;
  let escalate = "";
  for (const line of text.split("\n")) {
    const heading = /^(Symptoms|Causes|Checks|Fixes):$/.exec(line)?.[1];
    if (heading) current = lists[HEADINGS[heading as keyof typeof HEADINGS]];
    else if (line.startsWith("Escalate when: ")) escalate = line.slice("Escalate when: ".length);
    else if (line.startsWith("- ") && current) current.push(line.slice(2));
  }
  return { ...lists, escalate };
}

/** Returns what a post says of a shipped article: its causes, and a sign, without commands. */
export function readAdvice(passage: KnowledgePassage): string[] {
  const { causes, symptoms } = readPassage(passage);
  return [...causes, ...symptoms].filter((text) => !/[`"]/.test(text))
    .map((text) => sentence(text).text);
}

/** Returns entries of a passage as sentences, each with the fact that it is. Commands keep their small letters, and get no full stop. */
export function entries(book: FactBook, id: string, texts: readonly string[]): ArticleSentence[] {
  return texts.map((text) => {
    const facts = [book.add(`knowledge ${id}`, text, true)];
    return { text: /[.!?:…`]["”)]?$/.test(text) ? text : `${text}.`, facts };
  });
}
