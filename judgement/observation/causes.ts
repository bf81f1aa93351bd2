/** Names the cause of a fault by what was observed, as `causes.yaml` has it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../config.ts";
import {
  CATEGORIES,
  type Category,
  type NumberedObservation,
  OBSERVERS,
} from "../../contract/domain/mod.ts";
import { matchesGlob } from "../../integrations/files/mod.ts";

/** A cause that was considered. */
interface ConsideredCause {
  readonly cause: string;
  /** Numbers of the observations that speak for it. */
  readonly observations: readonly number[];
  /** Why it is not the cause, in a phrase for people. */
  readonly because: string;
}

/** A judgement of what was observed. */
export interface CauseJudgement {
  /** Null: what was observed names none. */
  readonly cause: string | null;
  /** A sentence for people. */
  readonly says: string;
  /** Likelihood that the cause is right, 0 to 1; 0 where none is named. */
  readonly confidence: number;
  readonly category: Category | null;
  /** Numbers of the observations that say so. */
  readonly observations: readonly number[];
  readonly alternatives: readonly ConsideredCause[];
}

const Figure = z.strictObject({
  from: z.array(z.enum(OBSERVERS)).min(1),
  figure: z.string(),
  is: z.union([z.boolean(), z.string()]).optional(),
  at_least: z.number().optional(),
  at_most: z.number().optional(),
  beyond: z.number().optional(),
  within: z.number().optional(),
});
const Words = z.strictObject({
  from: z.array(z.enum(OBSERVERS)).min(1),
  words: z.array(z.string().min(4)).min(1),
});
const Codes = z.strictObject({ codes: z.array(z.string()).min(1) });
const Condition = z.union([Figure, Words, Codes]);
const Support = { support: z.number().gt(0).lt(1) };
const Sign = z.union([
  Figure.extend(Support),
  Words.extend(Support),
  Codes.extend(Support),
  z.strictObject({ all: z.array(Condition).min(2), ...Support }),
]);
const Causes = z.strictObject({
  causes: z.array(z.strictObject({
    cause: z.string().regex(/^[a-z_]+$/),
    says: z.string(),
    category: z.enum(CATEGORIES),
    signs: z.array(Sign).min(1),
    against: z.array(Figure.extend({ because: z.string(), any: z.boolean().default(false) }))
      .default([]),
  })),
});

type Figure = z.output<typeof Figure>;
type Condition = z.output<typeof Condition>;
type Cause = z.output<typeof Causes>["causes"][number];

/** What a cause is judged by. */
interface Facts {
  /** Code of the failed check. */
  readonly code: string;
  readonly observations: readonly NumberedObservation[];
}

/** Support from which on a cause is named. */
const MIN_CONFIDENCE = 0.6;
/** Nothing that is judged by rules is certain. */
const MAX_CONFIDENCE = 0.97;
const MAX_ALTERNATIVES = 5;

const { causes } = Causes.parse(
  parse(readFileSync(join(ROOT, "judgement", "observation", "causes.yaml"), "utf8"), {
    merge: true,
  }),
);

/** Judges what was observed. The same observations give the same judgement. */
export function judgeCause(service: string, facts: Facts): CauseJudgement {
  const weighed = causes.map((cause) => ({ cause, ...weigh(cause, facts) }))
    .filter(({ support }) => support > 0)
    .sort((a, b) =>
      Number(a.against !== undefined) - Number(b.against !== undefined) || b.support - a.support
    );
  const [first, ...others] = weighed;
  const named = first && first.against === undefined && first.support >= MIN_CONFIDENCE
    ? first
    : undefined;
  const alternatives = (named ? others : weighed).slice(0, MAX_ALTERNATIVES)
    .map(({ cause: { cause }, observations, against, support }) => ({
      cause,
      observations,
      because: against ??
        (named ? "less speaks for it" : `too little speaks for it (${support.toFixed(2)})`),
    }));
  if (!named) {
    return {
      cause: null,
      says: `The cause is not known; the symptom is ${facts.code.replaceAll("_", " ")}.`,
      confidence: 0,
      category: null,
      observations: [],
      alternatives,
    };
  }
  return {
    cause: named.cause.cause,
    says: named.cause.says.replaceAll("{service}", service),
    confidence: Math.round(100 * Math.min(MAX_CONFIDENCE, named.support)) / 100,
    category: named.cause.category,
    observations: named.observations,
    alternatives,
  };
}

/** Weighs what speaks for a cause; signs of one source count once. */
function weigh({ signs, against }: Cause, facts: Facts) {
  const bySource = new Map<string, number>();
  const observations = new Set<number>();
  for (const sign of signs) {
    const found = ("all" in sign ? sign.all : [sign]).map((one) => meets(one, facts));
    if (found.some((one) => one === undefined)) continue;
    const numbers = found.flatMap((one) => one!);
    const source = facts.observations.find(({ number }) => number === numbers[0])?.source ??
      "codes";
    bySource.set(source, Math.max(bySource.get(source) ?? 0, sign.support));
    numbers.forEach((number) => observations.add(number));
  }
  const doubt = [...bySource.values()].reduce((left, support) => left * (1 - support), 1);
  return {
    support: 1 - doubt,
    observations: [...observations].sort((a, b) => a - b),
    against: against.find((figure) => isRuledOut(figure, facts))?.because,
  };
}

/** Returns the numbers of the observations that meet a condition; undefined: none does. */
function meets(condition: Condition, { code, observations }: Facts): number[] | undefined {
  if ("codes" in condition) {
    return condition.codes.some((glob) => matchesGlob(glob, code)) ? [] : undefined;
  }
  const found = observations.filter((one) =>
    condition.from.includes(one.source) &&
    ("figure" in condition ? holds(condition, one) : hasWords(condition.words, one))
  ).map(({ number }) => number);
  return found.length > 0 ? found : undefined;
}

function hasWords(words: readonly string[], { text = "" }: NumberedObservation): boolean {
  const lower = text.toLowerCase();
  return words.some((word) => lower.includes(word));
}

/** Returns whether every observation that has a figure rules the cause out; for `any`, whether one does. */
function isRuledOut(figure: Cause["against"][number], { observations }: Facts): boolean {
  const having = observations.filter(({ source, figures }) =>
    figure.from.includes(source) && figures?.[figure.figure] !== undefined
  );
  return figure.any
    ? having.some((one) => holds(figure, one))
    : having.length > 0 && having.every((one) => holds(figure, one));
}

function holds(
  { figure, is, at_least, at_most, beyond, within }: Figure,
  { figures }: NumberedObservation,
): boolean {
  const value = figures?.[figure];
  if (value === undefined) return false;
  if (is !== undefined) return value === is;
  const number = Number(value);
  return (at_least === undefined || number >= at_least) &&
    (at_most === undefined || number <= at_most) &&
    (beyond === undefined || Math.abs(number) > beyond) &&
    (within === undefined || Math.abs(number) <= within);
}
