import type { FindingRecord } from "../store/mod.ts";
import {
  type Attack,
  type AttackBounds,
  signOf,
  type Source,
  type Sources,
  watch,
  watchAll,
} from "./_attacks.ts";
import { type Level, levelOf, timeOf, wordsOf } from "./_lines.ts";
import { count, type Jump, jumps, type Minute } from "./_rates.ts";
import { knownTemplates, learn, type Miner, openMiner } from "./_templates.ts";

/** What a log has taught, in a form that can be kept. */
export interface KeptState {
  readonly lines: number;
  readonly templates: readonly (readonly [string, number])[];
  readonly minutes: readonly Minute[];
  readonly sources: readonly (readonly [string, KeptSource])[];
}

type KeptSource = Omit<Source, "invalid" | "ports"> & {
  readonly invalid: readonly (readonly [string, number])[];
  /** Absent: from before ports were looked at. */
  readonly ports?: readonly (readonly [string, number])[];
};

/** What is looked for in a log, and from when on it is something. */
export interface LogBounds extends AttackBounds {
  readonly errorRate: boolean;
  readonly attacks: boolean;
  readonly newTemplates: "errors" | "all" | "none";
  readonly errors: number;
  readonly timesUsual: number;
  /** Lines before which every template is new. */
  readonly learnLines: number;
}

/** A kind of line that was never there before. */
export interface NewTemplate {
  readonly template: string;
  readonly level: Level;
  /** Its first line. */
  readonly sample: string;
}

/** What lines told. */
export interface Told {
  /** The state with these lines in it. */
  readonly state: KeptState;
  /** The last of each source and kind; sources that only together attack come first. */
  readonly attacks: readonly Attack[];
  readonly jumps: readonly Jump[];
  readonly newTemplates: readonly NewTemplate[];
  /** Some of the lines that tell of a jump's errors. */
  readonly errorSamples: readonly string[];
}

const NOTHING: KeptState = { lines: 0, templates: [], minutes: [], sources: [] };
const MOST_SAMPLES = 5;
const MOST_NEW = 20;

/**
 * Takes lines in, in their order.
 *
 * @param before undefined: the log is new
 * @param now for lines that don't say when they were written, and for the year of those that leave it out
 * @param old the lines were there before anybody looked: they teach, but nothing is found in them
 */
export function takeIn(
  before: KeptState | undefined,
  lines: readonly string[],
  { bounds, now, old }: { bounds: LogBounds; now: Date; old: boolean },
): Told {
  const { lines: seen, templates, minutes, sources } = before ?? NOTHING;
  const known: Sources = new Map(
    sources.map(([source, kept]) => [source, {
      ...kept,
      invalid: new Map(kept.invalid),
      ports: new Map(kept.ports),
    }]),
  );
  const miner = openMiner(templates);
  const attacks = new Map<string, Attack>();
  const fresh: NewTemplate[] = [];
  const timed: { time: number; isError: boolean }[] = [];
  const errorSamples: string[] = [];
  let tried = false;
  let time = now.getTime();
  for (const [i, line] of lines.entries()) {
    time = timeOf(line, now) ?? time;
    const level = levelOf(line);
    timed.push({ time, isError: level === "error" });
    if (level === "error" && errorSamples.length < MOST_SAMPLES) errorSamples.push(sample(line));
    if (bounds.attacks) {
      const sign = signOf(line);
      const attack = sign && watch(known, sign, { at: time, bounds });
      if (attack) attacks.set(`${attack.code} ${attack.source}`, attack);
      tried ||= sign?.user !== undefined && sign.kind !== "accepted";
    }
    const isOld = old || seen + i < bounds.learnLines;
    const found = bounds.newTemplates === "none" ? undefined : mine(miner, line, level, bounds);
    if (found && !isOld && fresh.length < MOST_NEW) fresh.push(found);
  }
  const together = tried ? watchAll(known, time, bounds) : [];
  const counted = count(minutes, timed);
  const since = timed.reduce((first, { time }) => Math.min(first, time), Infinity);
  const wanted = bounds.errorRate && !old && lines.length > 0;
  return {
    state: {
      lines: seen + lines.length,
      templates: knownTemplates(miner),
      minutes: counted,
      sources: [...known].map(([source, one]) => [
        source,
        { ...one, invalid: [...one.invalid], ports: [...one.ports] },
      ]),
    },
    attacks: old ? [] : [...together, ...attacks.values()],
    jumps: wanted ? jumps(counted, Math.floor(since / 60_000), bounds) : [],
    newTemplates: fresh,
    errorSamples,
  };
}

function mine(
  miner: Miner,
  line: string,
  level: Level,
  { newTemplates }: LogBounds,
): NewTemplate | undefined {
  const { template, isNew } = learn(miner, wordsOf(line));
  if (!isNew || (newTemplates === "errors" && level === "info")) return undefined;
  return { template, level, sample: sample(line) };
}

/** Long enough to be understood, short enough to be kept. */
export const sample = (line: string): string => line.slice(0, 300);

/** Whether a line is of the kind that a finding is about. */
export function isLike(line: string, { code, detail }: FindingRecord): boolean {
  if (code === "error_rate") return levelOf(line) === "error";
  if (code === "new_templates") {
    const known = openMiner((detail.templates as string[] ?? []).map((text) => [text, 1]));
    return !learn(known, wordsOf(line)).isNew;
  }
  const sign = signOf(line);
  return sign !== undefined && sign.kind !== "accepted" && sign.kind !== "hint";
}
