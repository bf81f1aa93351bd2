import type { FindingRecord } from "../../store/incidents/mod.ts";
import {
  type Attack,
  type AttackLimits,
  type AttackSource,
  findDistributedAttack,
  type LoginAttempts,
  type LoginProcess,
  recordSign,
} from "./_log_attacks.ts";
import type { ColumnCounts } from "./_log_header.ts";
import { levelOf, type LineLevel } from "./_log_lines.ts";
import { countMinutes, type ErrorPeak, findErrorPeaks, type Minute } from "./_log_rates.ts";
import { keepSamples } from "./_log_samples.ts";
import { type LoginSign, parseSign } from "./_log_signs.ts";
import {
  findTemplate,
  learnLines,
  type MinerState,
  NOTHING_LEARNED,
  openMiner,
  saveMiner,
  textOf,
} from "./_log_templates.ts";
import { timeOf } from "./_log_time.ts";

/** State of a log, as it is stored: what was learned from its lines. */
export interface LogState {
  /** Number of lines that were read. */
  readonly lines: number;
  readonly kinds: MinerState;
  readonly minutes: readonly Minute[];
  readonly attempts: {
    readonly sources: readonly (readonly [string, StoredSource])[];
    readonly processes: readonly (readonly [string, LoginProcess])[];
    /** Sign of the last line, which the next one may repeat. */
    readonly lastSign?: LoginSign;
  };
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
  /** The first and the newest of the error lines. */
  readonly errorSamples: readonly string[];
}

export const EMPTY_STATE: LogState = {
  lines: 0,
  kinds: NOTHING_LEARNED,
  minutes: [],
  attempts: { sources: [], processes: [] },
};
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
  before: LogState = EMPTY_STATE,
  lines: readonly string[],
  { limits, now, old }: {
    readonly limits: LogLimits;
    readonly now: Date;
    readonly old: boolean;
  },
): LogReading {
  const attempts = parseAttempts(before.attempts);
  let sign = before.attempts.lastSign;
  const attacks = new Map<string, Attack>();
  const miner = openMiner(before.kinds);
  const learned = limits.newTemplates === "none" ? [] : learnLines(miner, lines);
  const newTemplates: NewTemplate[] = [];
  const timed: { time: number; isError: boolean }[] = [];
  let errorSamples: readonly string[] = [];
  let hasAttempt = false;
  let time = now.getTime();
  for (const [i, line] of lines.entries()) {
    time = timeOf(line, now) ?? time;
    const level = levelOf(line);
    timed.push({ time, isError: level === "error" });
    if (level === "error") errorSamples = keepSamples([...errorSamples, sampleOf(line)]);
    if (limits.attacks) {
      sign = parseSign(line, sign);
      const attack = sign && recordSign(attempts, sign, { at: time, limits });
      if (attack) attacks.set(`${attack.code} ${attack.source}`, attack);
      hasAttempt ||= sign?.user !== undefined && sign.kind !== "accepted";
    }
    const isLearning = old || before.lines + i < limits.learnLines;
    if (isLearning || !learned[i]?.isNew || newTemplates.length >= MAX_NEW_TEMPLATES) continue;
    if (limits.newTemplates === "errors" && level === "info") continue;
    newTemplates.push({ template: textOf(learned[i].template), level, sample: sampleOf(line) });
  }
  const distributed = hasAttempt ? findDistributedAttack(attempts, time, limits) : [];
  const minutes = countMinutes(before.minutes, timed);
  const first = timed.reduce((earliest, { time }) => Math.min(earliest, time), Infinity);
  const hasPeaks = limits.errorRate && !old && lines.length > 0;
  return {
    state: {
      lines: before.lines + lines.length,
      kinds: saveMiner(miner),
      minutes,
      attempts: { ...serializeAttempts(attempts, time - limits.windowMs), lastSign: sign },
    },
    attacks: old ? [] : [...distributed, ...attacks.values()],
    peaks: hasPeaks ? findErrorPeaks(minutes, Math.floor(first / 60_000), limits) : [],
    newTemplates,
    errorSamples,
  };
}

function parseAttempts({ sources, processes }: LogState["attempts"]): LoginAttempts {
  return {
    sources: new Map(sources.map(([source, { invalid, ports, ...rest }]) => {
      return [source, { ...rest, invalid: new Map(invalid), ports: new Map(ports) }];
    })),
    processes: new Map(processes.map(([id, process]) => [id, { ...process }])),
  };
}

/** @param since time before which processes are forgotten */
function serializeAttempts(
  { sources, processes }: LoginAttempts,
  since: number,
): LogState["attempts"] {
  return {
    sources: [...sources].map(([source, { invalid, ports, ...rest }]) => {
      return [source, { ...rest, invalid: [...invalid], ports: [...ports] }];
    }),
    processes: [...processes].filter(([, { at }]) => at > since),
  };
}

/** Cuts a line so that it can be kept. */
export function sampleOf(line: string): string {
  return line.slice(0, MAX_SAMPLE_CHARACTERS).toWellFormed();
}

/** Returns whether a line is of the kind that a finding is about. @param columns of the finding's log */
export function isLikeFinding(
  line: string,
  { code, detail }: FindingRecord,
  columns: ColumnCounts,
): boolean {
  if (code === "error_rate") return levelOf(line) === "error";
  if (code === "new_templates") {
    const templates = (detail.templates as string[] ?? []).map((text) => [text, 1] as const);
    return findTemplate(openMiner({ columns, templates }), line) !== undefined;
  }
  const sign = parseSign(line);
  return sign !== undefined && sign.kind !== "accepted" && sign.kind !== "hint";
}
