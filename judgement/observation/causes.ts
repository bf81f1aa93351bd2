/** Names the cause of a fault by what was observed, as `causes.yaml` has it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../config.ts";
import {
  CATEGORIES,
  type Category,
  fillIn,
  type NumberedObservation,
  OBSERVATION_SOURCES,
  say,
  type Text,
} from "../../contract/domain/mod.ts";
import { matchesGlob } from "../../integrations/files/mod.ts";
import { findWords } from "./_words.ts";

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
  readonly says: Text;
  /** Likelihood that the cause is right, 0 to 1; 0 where none is named. */
  readonly confidence: number;
  /** Support of the best supported cause, 0 to 1. */
  readonly support: number;
  readonly category: Category | null;
  /** Numbers of the observations that say so. */
  readonly observations: readonly number[];
  readonly alternatives: readonly ConsideredCause[];
  /** Causes that nothing rules out, the best supported first. */
  readonly hypotheses: readonly Hypothesis[];
}

/** A cause for which something speaks, and that nothing rules out. */
export interface Hypothesis {
  readonly cause: string;
  /** A sentence for people. */
  readonly says: Text;
  /** Numbers of the observations that speak for it. */
  readonly observations: readonly number[];
}

const Figure = z.strictObject({
  from: z.array(z.enum(OBSERVATION_SOURCES)).min(1),
  figure: z.string(),
  is: z.union([z.boolean(), z.string()]).optional(),
  at_least: z.number().optional(),
  at_most: z.number().optional(),
  beyond: z.number().optional(),
  within: z.number().optional(),
});
const Words = z.strictObject({
  from: z.array(z.enum(OBSERVATION_SOURCES)).min(1),
  words: z.array(z.string().min(4)).min(1),
});
const Mention = z.strictObject({
  from: z.array(z.enum(OBSERVATION_SOURCES)).min(1),
  mentions: z.string(),
});
const Codes = z.strictObject({ codes: z.array(z.string()).min(1) });
const Condition = z.union([Figure, Words, Mention, Codes]);
const Support = { support: z.number().gt(0).lt(1) };
const Sign = z.union([
  Figure.extend(Support),
  Words.extend(Support),
  Mention.extend(Support),
  Codes.extend(Support),
  z.strictObject({ all: z.array(Condition).min(2), ...Support }),
]);
const Causes = z.strictObject({
  confidences: z.array(z.strictObject({
    from: z.number(),
    named: z.number().int().min(0),
    right: z.number().int().min(0),
  })).min(1),
  causes: z.array(z.strictObject({
    cause: z.string().regex(/^[a-z_]+$/),
    says: z.string(),
    category: z.enum(CATEGORIES).nullable(),
    signs: z.array(Sign).min(1),
    against: z.array(Figure.extend({ because: z.string(), any: z.boolean().default(false) }))
      .default([]),
  })),
});

type Figure = z.output<typeof Figure>;
type Condition = z.output<typeof Condition>;
type Cause = z.output<typeof Causes>["causes"][number];

/** The facts that a cause is judged by. */
interface Facts {
  /** Code of the failed check. */
  readonly code: string;
  readonly observations: readonly NumberedObservation<Text>[];
}

/** Support for a cause. */
interface Weight {
  readonly cause: Cause;
  readonly support: number;
  /** Observations that say so. */
  readonly observations: readonly number[];
  /** How late the newest of it was said, 0 to 1; 1: it was measured, or said by the check. */
  readonly place: number;
  /** Why it is ruled out. */
  readonly against: string | undefined;
}

/** An observation that meets a condition. */
interface Match {
  /** Undefined: the condition is about the code. */
  readonly one?: NumberedObservation<Text>;
  readonly strength: number;
  readonly place: number;
}

/** Support from which on a cause is named. */
const MIN_CONFIDENCE = 0.6;
/** Causes whose support differs by no more are supported alike. */
const ALIKE = 0.05;
const MAX_ALTERNATIVES = 5;

const { causes, confidences } = Causes.parse(
  parse(readFileSync(join(ROOT, "judgement", "observation", "causes.yaml"), "utf8"), {
    merge: true,
  }),
);

/** Judges what was observed. The same observations give the same judgement. */
export function judgeCause(service: string, facts: Facts): CauseJudgement {
  const weighed = causes.map((cause) => weigh(cause, facts)).filter(({ support }) => support > 0)
    .sort((a, b) => b.support - a.support || b.place - a.place);
  const possible = weighed.filter(({ against }) => against === undefined);
  const first = preferNewest(possible);
  const named = first && first.support >= MIN_CONFIDENCE ? first : undefined;
  const alternatives = describeOthers(weighed.filter((one) => one !== named), named !== undefined);
  const hypotheses = possible.map(({ cause: { cause, says }, observations }): Hypothesis => ({
    cause,
    says: fillIn(says, { service }),
    observations,
  }));
  if (!named) {
    return {
      cause: null,
      says: say`The cause is not known; the symptom is ${facts.code.replaceAll("_", " ")}.`,
      confidence: 0,
      support: possible[0] ? Math.round(100 * possible[0].support) / 100 : 0,
      category: null,
      observations: [],
      alternatives,
      hypotheses,
    };
  }
  return {
    cause: named.cause.cause,
    says: fillIn(named.cause.says, { service }),
    confidence: confidenceOf(named.support),
    support: Math.round(100 * named.support) / 100,
    category: named.cause.category,
    observations: named.observations,
    alternatives,
    hypotheses,
  };
}

/**
 * Returns how likely a cause with so much support is right, by how often such causes were (Laplace's rule of succession):
 * few cases give no certainty.
 */
function confidenceOf(support: number): number {
  const { named, right } = confidences.findLast(({ from }) => support >= from) ?? confidences[0]!;
  return Math.round(100 * (right + 1) / (named + 2)) / 100;
}

/** Returns the best supported cause; of those that only words support, and about as well, the one reported last. */
function preferNewest([best, ...others]: readonly Weight[]): Weight | undefined {
  if (!best || best.place === 1) return best;
  const alike = others.filter(({ support, place }) => place < 1 && support >= best.support - ALIKE);
  return [best, ...alike].sort((a, b) => b.place - a.place)[0];
}

function describeOthers(others: readonly Weight[], isNamed: boolean): ConsideredCause[] {
  return others.slice(0, MAX_ALTERNATIVES)
    .map(({ cause: { cause }, observations, against, support }) => ({
      cause,
      observations,
      because: against ??
        (isNamed ? "less speaks for it" : `too little speaks for it (${support.toFixed(2)})`),
    }));
}

/** Weighs what speaks for a cause; signs of one source count once. */
function weigh(cause: Cause, facts: Facts): Weight {
  const bySource = new Map<string, number>();
  const observations = new Set<number>();
  let place = 0;
  for (const sign of cause.signs) {
    const matches = "all" in sign ? findAll(sign.all, facts) : findMatches(sign, facts);
    if (matches.length === 0) continue;
    const source = matches.find(({ one }) => one)?.one?.source ?? "codes";
    const strength = Math.max(...matches.map((match) => match.strength));
    bySource.set(source, Math.max(bySource.get(source) ?? 0, sign.support * strength));
    place = Math.max(place, ...matches.map((match) => match.place));
    for (const { one } of matches) if (one) observations.add(one.number);
  }
  const doubt = [...bySource.values()].reduce((left, support) => left * (1 - support), 1);
  return {
    cause,
    support: 1 - doubt,
    observations: [...observations].sort((a, b) => a - b),
    place,
    against: cause.against.find((figure) => isRuledOut(figure, facts))?.because,
  };
}

/** Finds what meets all conditions; those about the same sources must be met by the same observation. */
function findAll(conditions: readonly Condition[], facts: Facts): Match[] {
  const bySources = new Map<string, Match[][]>();
  for (const condition of conditions) {
    const sources = "from" in condition ? condition.from.join() : "codes";
    bySources.set(sources, [...bySources.get(sources) ?? [], findMatches(condition, facts)]);
  }
  const common = [...bySources.values()].map(([first, ...others]) =>
    first!.filter(({ one }) => others.every((all) => all.some((other) => other.one === one)))
  );
  return common.some((matches) => matches.length === 0) ? [] : common.flat();
}

/** Finds what meets a condition. */
function findMatches(condition: Condition, { code, observations }: Facts): Match[] {
  if ("codes" in condition) {
    return condition.codes.some((glob) => matchesGlob(glob, code))
      ? [{ strength: 1, place: 1 }]
      : [];
  }
  const from = observations.filter(({ source }) => condition.from.includes(source));
  if ("figure" in condition) {
    return from.filter((one) => holds(condition, one)).map((one) => ({
      one,
      strength: 1,
      place: 1,
    }));
  }
  const words = "words" in condition ? condition.words : observations.flatMap(({ figures }) => {
    const value = figures?.[condition.mentions];
    return typeof value === "string" ? [value.toLowerCase()] : [];
  });
  return from.flatMap((one): Match[] => {
    const found = findWords(one.text ?? "", words);
    if (!found) return [];
    return [{ one, ...(one.source === "check" ? { strength: 1, place: 1 } : found) }];
  });
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
  { figures }: NumberedObservation<Text>,
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
