/** The checks of the words of an article. */
import type { ArticleCheck, ArticleSource, ArticleText } from "../../../contract/domain/mod.ts";
import { articleWords } from "./page.ts";

/** Words that rest on what happened here, and not on shipped texts alone. */
const MIN_OWN_WORDS = 25;
/** A shorter sentence says nothing about its language. */
const MIN_SENTENCE_WORDS = 5;
const MIN_EASE = 30;
const MAX_SENTENCE_WORDS = 24;
/** Share of runs of five words that two articles may have in common. */
const MAX_LIKENESS = 0.6;

/** Returns the result of a check. @param about a sentence for people */
export const checkResult = (check: string, passed: boolean, about: string): ArticleCheck => ({
  check,
  passed,
  about,
});

/** Refuses articles that tell nothing of their own: a ticket of two words, and pages of advice. */
export function checkOwnWords(
  sentences: readonly string[],
  source: ArticleSource["kind"],
): ArticleCheck {
  if (source === "knowledge") {
    return checkResult("own_words", true, "It is about the knowledge base");
  }
  const { length } = sentences.flatMap((one) => one.match(/[\p{L}\p{N}]+/gu) ?? []);
  return checkResult(
    "own_words",
    length >= MIN_OWN_WORDS,
    `${length} words tell what happened, at least ${MIN_OWN_WORDS} wanted`,
  );
}

/** Words without which few English sentences do, and which other languages do not have. */
const ENGLISH = new Set(
  ("after and are at be because been before but by each every for from had have his how it its not of off our out than that " +
    "the their them then there they this to too us we were what when where which who will with would you")
    .split(" "),
);

/** The site is in English: refuses articles most of whose own sentences are not. */
export function checkLanguage(texts: readonly string[]): ArticleCheck {
  const sentences = texts.map((one) => one.toLowerCase().match(/\p{L}+/gu) ?? [])
    .filter((words) => words.length >= MIN_SENTENCE_WORDS);
  const foreign = sentences.filter((words) => !words.some((word) => ENGLISH.has(word))).length;
  return checkResult(
    "language",
    foreign <= sentences.length / 2,
    foreign === 0 ? "English" : `${foreign} of ${sentences.length} sentences may not be English`,
  );
}

/** Flesch's reading ease and the mean length of sentences, of the prose without code. */
export function checkReadability(text: ArticleText): ArticleCheck {
  const prose = text.sections.flatMap(({ blocks }) =>
    blocks.filter(({ kind }) => kind === "paragraph").flatMap(({ sentences }) => sentences)
  ).map((one) => one.text.replace(/`[^`]*`/g, "it"));
  const words = prose.flatMap((one) => one.match(/\p{L}+/gu) ?? []);
  const sentences = Math.max(1, prose.flatMap((one) => one.match(/[^.!?]+[.!?]*/g) ?? []).length);
  const perSentence = words.length / sentences;
  const syllables = words.reduce((sum, word) => sum + countSyllables(word), 0);
  const ease = 206.835 - 1.015 * perSentence - 84.6 * (syllables / Math.max(1, words.length));
  return checkResult(
    "readability",
    ease >= MIN_EASE && perSentence <= MAX_SENTENCE_WORDS,
    `Reading ease ${Math.round(ease)}, at least ${MIN_EASE} wanted; ${
      perSentence.toFixed(1)
    } words a sentence, at most ${MAX_SENTENCE_WORDS}`,
  );
}

function countSyllables(word: string): number {
  const groups = word.toLowerCase().replace(/e$/, "").match(/[aeiouy]+/g);
  return Math.max(1, groups?.length ?? 0);
}

export function checkLikeness(
  text: ArticleText,
  others: readonly { readonly id: string; readonly content: ArticleText }[],
): ArticleCheck {
  const own = shingles(text);
  let most = 0;
  let like = "";
  for (const { id, content } of others) {
    const theirs = shingles(content);
    const shared = [...own].filter((one) => theirs.has(one)).length;
    const likeness = shared / Math.max(1, Math.min(own.size, theirs.size));
    if (likeness > most) [most, like] = [likeness, id];
  }
  const share = `${Math.round(most * 100)} %`;
  return checkResult(
    "likeness",
    most <= MAX_LIKENESS,
    most === 0
      ? "No other article is like it"
      : `${share} of it is in ${like}, at most ${MAX_LIKENESS * 100} % wanted`,
  );
}

/** Returns all runs of five words. */
function shingles(text: ArticleText): Set<string> {
  const words = articleWords(text).map((word) => word.toLowerCase());
  return new Set(words.slice(4).map((_, n) => words.slice(n, n + 5).join(" ")));
}
