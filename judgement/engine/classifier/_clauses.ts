/** Splits a text into clauses, and tells which of them say that something is in order. */
import { MAX_TEXT_LENGTH, wordsOf } from "./_text.ts";

/** A part of a text between full stops, commas and words such as "but". */
export interface Clause {
  /** In plain form, see {@linkcode wordsOf}. */
  readonly words: readonly string[];
  /** It says that the thing it names works, or is not to blame. */
  readonly isFine: boolean;
}

/** A step of a pattern: words of which one has to stand there, at most so many other words, or the end of the clause. */
export type PatternStep =
  | { readonly words: readonly string[] }
  | { readonly maxWords: number }
  | "end";

/** Words and patterns by which clauses are told apart. */
export interface ClauseRules {
  readonly conjunctions: readonly string[];
  readonly fine: readonly (readonly PatternStep[])[];
  readonly notFine: readonly (readonly PatternStep[])[];
}

/** A clause with fewer words is joined with the next one. */
const MIN_WORDS = 3;
/** A longer clause says more than that something is in order. */
const MAX_FINE_WORDS = 16;

/** Makes a function that returns the clauses of a text, in order. A list ("network, DNS and disks are fine") is one. */
export function createClauseSplitter(
  { conjunctions, fine, notFine }: ClauseRules,
): (text: string) => Clause[] {
  const separator = new RegExp(
    String.raw`[\n;!?]+|\.(?=\s|$)|,\s|\s[-–—]+\s|[()"“”„«»]|\s(?=(?:${conjunctions.join("|")})\s)`,
    "u",
  );
  const saysFine = anyOf(fine);
  const takesBack = anyOf(notFine);
  return (text) => {
    const clauses: string[][] = [];
    let open: string[] = [];
    for (const piece of text.slice(0, MAX_TEXT_LENGTH).split(separator)) {
      open = [...open, ...wordsOf(piece)];
      if (open.length < MIN_WORDS) continue;
      clauses.push(open);
      open = [];
    }
    if (open.length > 0) clauses.push(open);
    return clauses.map((words) => {
      const clause = words.join(" ");
      return {
        words,
        isFine: words.length <= MAX_FINE_WORDS && saysFine.test(clause) && !takesBack.test(clause),
      };
    });
  };
}

function anyOf(patterns: readonly (readonly PatternStep[])[]): RegExp {
  return new RegExp(patterns.map(patternSource).join("|"));
}

/** Writes a pattern as a regular expression. Words are separated by one space, also before a step of at most n words. */
function patternSource(steps: readonly PatternStep[]): string {
  let source = "";
  for (const [n, step] of steps.entries()) {
    const gap = steps[n - 1];
    if (step === "end") source += "$";
    else if ("words" in step) {
      const words = step.words.map((word) => word.replace("*", String.raw`\w*`));
      if (n > 0 && !isGap(gap)) source += String.raw`\s`;
      source += String.raw`\b(?:${words.join("|")})\b`;
    } else if (steps[n + 1] === "end") source += String.raw`(?:\s\w+){0,${step.maxWords}}`;
    else source += String.raw`\s(?:\w+\s){0,${step.maxWords}}`;
  }
  return source;
}

function isGap(step: PatternStep | undefined): boolean {
  return typeof step === "object" && "maxWords" in step;
}
