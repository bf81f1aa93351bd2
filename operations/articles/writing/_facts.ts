import type {
  ArticleBlock,
  ArticleFact,
  ArticleSection,
  ArticleSentence,
} from "../../../contract/domain/mod.ts";

/** The facts of one article, by numbers. */
export interface FactBook {
  readonly facts: readonly ArticleFact[];
  /** Adds a fact, or finds the one with the same text. @returns its number */
  add(from: string, text: string, shipped?: boolean): number;
}

/** Opens the facts of an article. */
export function openFactBook(): FactBook {
  const facts: ArticleFact[] = [];
  return {
    facts,
    add(from, text, shipped = false) {
      const known = facts.find((fact) => fact.text === text);
      if (known) return known.n;
      facts.push({ n: facts.length + 1, from, text, shipped });
      return facts.length;
    },
  };
}

/** Returns a sentence: with a capital, and a full stop where it has no other end. */
export function sentence(text: string, ...facts: readonly number[]): ArticleSentence {
  const trimmed = text.trim().replace(/\s+/g, " ");
  const begun = /^[a-z][a-z]*\b(?![-_./(=:])/.test(trimmed)
    ? trimmed[0]!.toUpperCase() + trimmed.slice(1)
    : trimmed;
  return { text: /[.!?:…]["”)]?$/.test(begun) ? begun : `${begun}.`, facts };
}

/** Returns a section. */
export function section(
  heading: string | null,
  ...blocks: readonly ArticleBlock[]
): ArticleSection {
  return { heading, blocks: blocks.filter(({ sentences }) => sentences.length > 0) };
}

/** Returns a paragraph. */
export function paragraph(sentences: readonly ArticleSentence[]): ArticleBlock {
  return { kind: "paragraph", sentences };
}
