/** Orders to the judge in free words: a sentence that addresses it, names its verdict, and demands. */
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("judge_orders", [
  "judge",
  "verdict",
  "force",
  "waived",
  "order_foreign",
  "judge_foreign",
  "verdict_foreign",
  "reported_foreign",
  "reported",
]);

const MAX_TEXT_LENGTH = 12_000;
const MAX_SENTENCES = 200;

const JUDGE = expressions.judge;
const VERDICT = expressions.verdict;
const FORCE = expressions.force;
const WAIVED = expressions.waived;

/** "You must approve" and "without restrictions" in other languages. */
const ORDER_FOREIGN = expressions.order_foreign;

/** A program that judges, in other languages. */
const JUDGE_FOREIGN = expressions.judge_foreign;

/** The verdict it is to give, or the checks it is to leave out, in other languages. */
const VERDICT_FOREIGN = expressions.verdict_foreign;

/** People who can't use such a program, or its faults, in other languages. */
const REPORTED_FOREIGN = expressions.reported_foreign;

/** Tells whether a sentence of a text tells the judge what to find. */
export function instructsJudge(text: string): boolean {
  return text.slice(0, MAX_TEXT_LENGTH).split(/(?<=[.!?;])\s+|\n+/).slice(0, MAX_SENTENCES).some(
    (sentence) => {
      if (WAIVED.test(sentence) || ORDER_FOREIGN.test(sentence)) return true;
      if (
        JUDGE_FOREIGN.test(sentence) && VERDICT_FOREIGN.test(sentence) &&
        !REPORTED_FOREIGN.test(sentence)
      ) return true;
      const verdict = VERDICT.test(sentence);
      const force = FORCE.test(sentence);
      return JUDGE.test(sentence) && (verdict || force) && !REPORTED.test(sentence) ||
        force && verdict || /unlock everything|do (?:what|as) i say/i.test(sentence);
    },
  );
}

/** A sentence about such programs, not addressed to them. */
const REPORTED = expressions.reported;
