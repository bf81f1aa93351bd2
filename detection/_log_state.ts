import type { FindingRecord } from "../store/mod.ts";
import {
  type Attack,
  type AttackLimits,
  type AttackSource,
  type AttackSources,
  findDistributedAttack,
  recordSign,
} from "./_log_attacks.ts";
import { levelOf, type LineLevel, splitWords } from "./_log_lines.ts";
import { countMinutes, type ErrorPeak, findErrorPeaks, type Minute } from "./_log_rates.ts";
import { parseSign } from "./_log_signs.ts";
import { learnLine, listTemplates, openMiner, type TemplateMiner } from "./_log_templates.ts";
import { timeOf } from "./_log_time.ts";

/** State of a log, as it is stored: what was learned from its lines. */
export interface LogState {
  /** Number of lines that were read. */
  readonly lines: number;
  readonly templates: readonly (readonly [string, number])[];
  readonly minutes: readonly Minute[];
  readonly sources: readonly (readonly [string, StoredSource])[];
}

type StoredSource = Omit<AttackSource, "invalid" | "ports"> & {
  readonly invalid: readonly (readonly [string, number])[];
  readonly ports: readonly (readonly [string, number])[];
};

/** Kinds of findings that are looked for in a log, and their limits. */
export interface LogLimits extends AttackLimits {
  readonly errorRate: boolean;
  readonly attacks: boolean;
  readonly newTemplates: "errors" | "all" | "none";
  readonly errors: number;
  readonly timesUsual: number;
  /** Lines before which every template is new. */
  readonly learnLines: number;
}

/** A template that the log never had before. */
export interface NewTemplate {
  readonly template: string;
  readonly level: LineLevel;
  /** Its first line. */
  readonly sample: string;
}

/** Result of reading lines. */
export interface LogReading {
  /** The state with these lines. */
  readonly state: LogState;
  /** The last attack of each source and kind; sources that attack only together come first. */
  readonly attacks: readonly Attack[];
  readonly peaks: readonly ErrorPeak[];
  readonly newTemplates: readonly NewTemplate[];
  /** Some of the error lines. */
  readonly errorSamples: readonly string[];
}

const EMPTY: LogState = { lines: 0, templates: [], minutes: [], sources: [] };
const MAX_SAMPLES = 5;
const MAX_SAMPLE_CHARACTERS = 300;
const MAX_NEW_TEMPLATES = 20;

/**
 * Reads lines in their order.
 *
 * @param before undefined: the log is new
 * @param options.now for lines without a time, and for the year of times without one
 * @param options.old whether the lines are older than the first look: they are learned from, but give no findings
 */
export function readLines(
  before: LogState = EMPTY,
  lines: readonly string[],
  { limits, now, old }: {
    readonly limits: LogLimits;
    readonly now: Date;
    readonly old: boolean;
  },
): LogReading {
  const sources = parseSources(before.sources);
  const miner = openMiner(before.templates);
  const attacks = new Map<string, Attack>();
  const newTemplates: NewTemplate[] = [];
  const timed: { time: number; isError: boolean }[] = [];
  const errorSamples: string[] = [];
  let hasAttempt = false;
  let time = now.getTime();
  for (const [i, line] of lines.entries()) {
    time = timeOf(line, now) ?? time;
    const level = levelOf(line);
    timed.push({ time, isError: level === "error" });
    if (level === "error" && errorSamples.length < MAX_SAMPLES) errorSamples.push(sampleOf(line));
    if (limits.attacks) {
      const sign = parseSign(line);
      const attack = sign && recordSign(sources, sign, { at: time, limits });
      if (attack) attacks.set(`${attack.code} ${attack.source}`, attack);
      hasAttempt ||= sign?.user !== undefined && sign.kind !== "accepted";
    }
    if (limits.newTemplates === "none") continue;
    const template = learnTemplate(miner, line, level, limits);
    const isLearning = old || before.lines + i < limits.learnLines;
    if (template && !isLearning && newTemplates.length < MAX_NEW_TEMPLATES) {
      newTemplates.push(template);
    }
  }
  const distributed = hasAttempt ? findDistributedAttack(sources, time, limits) : [];
  const minutes = countMinutes(before.minutes, timed);
  const first = timed.reduce((earliest, { time }) => Math.min(earliest, time), Infinity);
  const hasPeaks = limits.errorRate && !old && lines.length > 0;
  return {
    state: {
      lines: before.lines + lines.length,
      templates: listTemplates(miner),
      minutes,
      sources: serializeSources(sources),
    },
    attacks: old ? [] : [...distributed, ...attacks.values()],
    peaks: hasPeaks ? findErrorPeaks(minutes, Math.floor(first / 60_000), limits) : [],
    newTemplates,
    errorSamples,
  };
}

function learnTemplate(
  miner: TemplateMiner,
  line: string,
  level: LineLevel,
  { newTemplates }: LogLimits,
): NewTemplate | undefined {
  const { template, isNew } = learnLine(miner, splitWords(line));
  if (!isNew || (newTemplates === "errors" && level === "info")) return undefined;
  return { template: template.words.join(" "), level, sample: sampleOf(line) };
}

function parseSources(stored: LogState["sources"]): AttackSources {
  return new Map(stored.map(([source, { invalid, ports, ...rest }]) => {
    return [source, { ...rest, invalid: new Map(invalid), ports: new Map(ports) }];
  }));
}

function serializeSources(sources: AttackSources): LogState["sources"] {
  return [...sources].map(([source, { invalid, ports, ...rest }]) => {
    return [source, { ...rest, invalid: [...invalid], ports: [...ports] }];
  });
}

/** Cuts a line so that it can be kept. */
export function sampleOf(line: string): string {
  return line.slice(0, MAX_SAMPLE_CHARACTERS);
}

/** Returns whether a line is of the kind that a finding is about. */
export function isLikeFinding(line: string, { code, detail }: FindingRecord): boolean {
  if (code === "error_rate") return levelOf(line) === "error";
  if (code === "new_templates") {
    const known = openMiner((detail.templates as string[] ?? []).map((text) => [text, 1]));
    return !learnLine(known, splitWords(line)).isNew;
  }
  const sign = parseSign(line);
  return sign !== undefined && sign.kind !== "accepted" && sign.kind !== "hint";
}
