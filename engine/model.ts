/** Two linear models over one view of a text: which category it belongs to, and how bad it is. */
import { count, type Counted, type Features, rarityOf, type Shares, weigh } from "./features.ts";
import type { Article, LabelledReport } from "./knowledge.ts";
import { CATEGORIES, type Category, SEVERITIES, type Severity } from "./labels.ts";
import {
  type Concepts,
  conceptsOf,
  type Found,
  type Lexicon,
  lonePhrases,
  type Phrase,
  phrasesBy,
} from "./lexicon.ts";
import { learn, score, softmax, type Weights } from "./linear.ts";
import { type Signals, signalsBy } from "./severity.ts";
import { clausesOf, LONGEST } from "./text.ts";

/** A text as the models see it, before it is known which words are rare. */
export interface Reading {
  readonly counted: Counted;
  readonly phrases: readonly Found[];
  readonly signals: Signals;
}

/** What the models make of a text. */
export interface Judgement {
  /** Of each category, in the order of {@linkcode CATEGORIES}; they sum up to 1. */
  readonly categories: readonly number[];
  readonly severity: Severity;
}

/** Judges texts. @param without phrases of the lexicon that are passed over */
export type Judge = (reading: Reading, without?: ReadonlySet<Phrase>) => Judgement;

/** What can be learnt from; with readings, as reading takes longer than learning. */
export interface Lesson {
  readonly reading: Reading;
  readonly category: Category;
  /** Undefined: only the category is to be learnt from it. */
  readonly severity: Severity | undefined;
}

const CATEGORY_SHARES: Shares = { words: 1, pairs: 0.6, pieces: 1 };
const SEVERITY_SHARES: Shares = { words: 0.6, pairs: 0.4, pieces: 0.6 };
const CONCEPTS = 0.1;
const SIGNALS = 0.3;
const CATEGORY_COST = 0.2;
const SEVERITY_COST = 0.1;
/**
 * Makes chances of scores so that of verdicts with a confidence of p, about a share of p is right. A little above the
 * value with the lowest log loss in cross-validation, which `npm run eval` finds: to claim too little does less harm.
 */
export const HEAT = 0.25;

/** A function that reads texts. */
export function readerBy(lexicon: Lexicon, signals: Concepts): (text: string) => Reading {
  const phrasesOf = phrasesBy(lexicon);
  const signalsOf = signalsBy(signals);
  return (whole) => {
    const text = whole.slice(0, LONGEST);
    const clauses = clausesOf(text);
    return {
      counted: count(clauses),
      phrases: phrasesOf(clauses),
      signals: signalsOf(text, clauses),
    };
  };
}

/** Reads labelled reports as lessons. */
export function lessonsOfReports(
  reports: readonly LabelledReport[],
  read: (text: string) => Reading,
): Lesson[] {
  return reports.map(({ text, category, severity }) => ({
    reading: read(text),
    category,
    severity,
  }));
}

/** Reads what articles say of symptoms and causes as lessons, a sentence each. */
export function lessonsOfArticles(
  articles: readonly Article[],
  read: (text: string) => Reading,
): Lesson[] {
  return articles.flatMap(({ title, symptoms, causes, words, category }) =>
    [title, ...symptoms, ...causes, ...Object.values(words).flat()]
      .map((text) => ({ reading: read(text), category, severity: undefined }))
  );
}

/**
 * Learns from lessons; the same ones in the same order give the same judge.
 *
 * Phrases that only one lesson has are passed over while learning, as some were written for that lesson: they would
 * make the lexicon look more reliable than it is for texts that nobody has seen.
 */
export function judgeFrom(lessons: readonly Lesson[], heat: number = HEAT): Judge {
  const rarity = rarityOf(lessons.map(({ reading }) => reading.counted));
  const lone = lonePhrases(lessons.map(({ reading }) => reading.phrases));
  const forCategory = (
    { counted, phrases }: Reading,
    without?: ReadonlySet<Phrase>,
  ): Features =>
    weigh(counted, rarity, CATEGORY_SHARES, scaled(conceptsOf(phrases, without), CONCEPTS));
  const forSeverity = ({ counted, signals }: Reading): Features =>
    weigh(counted, rarity, SEVERITY_SHARES, scaled(signals, SIGNALS));

  const categories = learnEach(
    lessons,
    (reading) => forCategory(reading, lone),
    CATEGORY_COST,
    CATEGORIES.map((wanted) => ({ category }) => category === wanted),
  );
  const graded = lessons.filter(({ severity }) => severity !== undefined);
  const steps = learnEach(
    graded,
    forSeverity,
    SEVERITY_COST,
    SEVERITIES.slice(1).map((least) => ({ severity }) =>
      SEVERITIES.indexOf(severity!) >= SEVERITIES.indexOf(least)
    ),
  );
  return (reading, without) => {
    const features = forCategory(reading, without);
    const graded = forSeverity(reading);
    return {
      categories: softmax(categories.map((weights) => score(weights, features)), heat),
      // Each step is the answer to "at least that bad?"; as many as say yes is the middle of what is likely.
      severity: SEVERITIES[steps.filter((weights) => score(weights, graded) > 0).length]!,
    };
  };
}

function learnEach(
  lessons: readonly Lesson[],
  featuresOf: (reading: Reading) => Features,
  cost: number,
  groups: readonly ((lesson: Lesson) => boolean)[],
): Weights[] {
  const features = lessons.map(({ reading }) => featuresOf(reading));
  return groups.map((belongs) => learn(features, lessons.map(belongs), cost));
}

function scaled(signals: Signals, by: number): Signals {
  return new Map([...signals].map(([name, weight]) => [name, weight * by]));
}
