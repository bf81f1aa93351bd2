/**
 * Kinds of lines ("templates"), learned line by line: messages of the same length and beginning that agree in most of their
 * words have one template, and the words in which they differ are values. The columns before a message do not count.
 *
 * @see He, Zhu, Zheng, Lyu: Drain: An Online Log Parsing Approach with Fixed Depth Tree, ICWS 2017
 */
import {
  type ColumnCounts,
  findHeader,
  isSameHeader,
  learnColumns,
  type LogHeader,
  messageStart,
  NO_COLUMNS,
} from "./_log_header.ts";
import { readRecord } from "./_log_record.ts";
import { splitWords, VALUE } from "./_log_words.ts";

/** A template of lines. */
export interface Template {
  /** Words, with `<*>` for values. */
  words: string[];
  /** Number of lines that have it. */
  count: number;
}

/** Knowledge of a log's lines, as it is stored. */
export interface MinerState {
  readonly columns: ColumnCounts;
  /** Fields of the lines since the columns are known. */
  readonly recent?: ColumnCounts;
  /** Texts of templates, with how many lines have each. */
  readonly templates: readonly (readonly [string, number])[];
}

/** Templates that were learned. */
export interface TemplateMiner {
  columns: ColumnCounts;
  recent: ColumnCounts;
  header: LogHeader | undefined;
  /** Templates by number and first of their words. */
  readonly leaves: Map<string, Template[]>;
  size: number;
}

export const NOTHING_LEARNED: MinerState = { columns: NO_COLUMNS, templates: [] };

/** Share of its words in which a line agrees with its template. */
const MIN_AGREEMENT = 0.6;
/** Words that tell kinds apart, where two lines have different ones: participles, and names of states in capitals. */
const TELLING: readonly RegExp[] = [/^\W*[a-z_]{2,}(?:ed|ing)\W*$/i, /^\W*[A-Z_]{2,}\W*$/];
/** With so many kinds that differ in nothing but such words, these are values. */
const MAX_APART = 8;
/** A word before a value. */
const NAMES_VALUE = /\w[:=]$/;
/** A log with more templates than this has lines without any order. */
const MAX_TEMPLATES = 1_000;
/** Maximum of templates of the same length and beginning. */
const MAX_LEAF_TEMPLATES = 100;

/** Opens a miner. */
export function openMiner(
  { columns, recent = NO_COLUMNS, templates }: MinerState = NOTHING_LEARNED,
): TemplateMiner {
  const header = findHeader(columns);
  const miner: TemplateMiner = { columns, recent, header, leaves: new Map(), size: 0 };
  for (const [text, count] of templates) add(miner, { words: text.split(" "), count });
  return miner;
}

/** Returns what a miner learned, as {@linkcode openMiner} takes it. */
export function saveMiner(miner: TemplateMiner): MinerState {
  const templates = listTemplates(miner).map((one): [string, number] => [textOf(one), one.count]);
  return { columns: miner.columns, recent: miner.recent, templates };
}

/** Lists the templates that were learned. */
export function listTemplates({ leaves }: TemplateMiner): Template[] {
  return [...leaves.values()].flat();
}

/** Returns the text of a template. */
export function textOf({ words }: Template): string {
  return words.join(" ");
}

/**
 * Learns from lines.
 *
 * A batch may change the columns before messages. Then these columns are cut off the known templates, and none of the batch is
 * new.
 *
 * @returns for each line its template, and whether that is new; once there are too many templates, none is new
 */
export function learnLines(
  miner: TemplateMiner,
  lines: readonly string[],
): { template: Template; isNew: boolean }[] {
  const learned = learnColumns(miner, lines);
  const header = findHeader(learned.columns);
  const hasChanged = !isSameHeader(header, miner.header);
  const known = hasChanged ? listTemplates(miner) : [];
  const hadHeader = miner.header !== undefined;
  Object.assign(miner, { ...learned, header });
  if (hasChanged) mapTemplates(miner, known, hadHeader);
  return lines.map((line) => {
    const { template, isNew } = learnWords(miner, wordsOf(line, header));
    return { template, isNew: isNew && !hasChanged };
  });
}

/**
 * Replaces templates by those that other columns give. With columns before, a template is a message or, of a line that did not
 * fit them, a whole line: it is known as both.
 */
function mapTemplates(miner: TemplateMiner, known: readonly Template[], hadHeader: boolean): void {
  miner.leaves.clear();
  miner.size = 0;
  for (const { words, count } of known) {
    const text = words.join(" ");
    const message = miner.header ? text.slice(messageStart(text, miner.header)) : text;
    for (const one of new Set(hadHeader ? [text, message] : [message])) {
      const { template } = learnWords(miner, one.split(" ").filter(Boolean));
      template.count += count - 1;
    }
  }
}

/** Finds the template of a line, without learning from it. */
export function findTemplate(miner: TemplateMiner, line: string): Template | undefined {
  const words = wordsOf(line, miner.header);
  return find(miner.leaves.get(leafKey(words)) ?? [], words);
}

function wordsOf(line: string, header: LogHeader | undefined): string[] {
  const message = readRecord(line)?.message;
  return splitWords(message ?? (header ? line.slice(messageStart(line, header)) : line));
}

function learnWords(
  miner: TemplateMiner,
  words: string[],
): { template: Template; isNew: boolean } {
  const key = leafKey(words);
  const leaf = miner.leaves.get(key) ?? [];
  const match = find(leaf, words);
  if (match) {
    match.count++;
    for (const [i, word] of words.entries()) {
      if (match.words[i] !== word) match.words[i] = VALUE;
    }
    return { template: match, isNew: false };
  }
  const template = { words, count: 1 };
  const isNew = words.length > 0 && miner.size < MAX_TEMPLATES && leaf.length < MAX_LEAF_TEMPLATES;
  if (isNew) add(miner, template);
  return { template, isNew };
}

function find(leaf: readonly Template[], words: readonly string[]): Template | undefined {
  let best: Template | undefined;
  let most = 0;
  const apart: Template[] = [];
  for (const template of leaf) {
    const agreement = agreementOf(template.words, words);
    if (agreement < MIN_AGREEMENT || agreement <= most) continue;
    if (agreement < 1 && areApart(template.words, words)) apart.push(template);
    else [best, most] = [template, agreement];
  }
  return best ?? (apart.length >= MAX_APART ? apart[0] : undefined);
}

/** Returns the share of equal words. Values on both sides do not count. */
function agreementOf(template: readonly string[], words: readonly string[]): number {
  let same = 0;
  let values = 0;
  for (let i = 0; i < words.length; i++) {
    if (template[i] !== words[i]) continue;
    if (words[i] === VALUE) values++;
    else same++;
  }
  return values === words.length ? 1 : same / (words.length - values);
}

/** Returns whether two of the words that differ tell the kinds apart. */
function areApart(template: readonly string[], words: readonly string[]): boolean {
  return words.some((word, i) =>
    word !== template[i] && TELLING.some((one) => one.test(word) && one.test(template[i]!)) &&
    !(i > 0 && NAMES_VALUE.test(words[i - 1]!))
  );
}

function add(miner: TemplateMiner, template: Template): void {
  const key = leafKey(template.words);
  const leaf = miner.leaves.get(key);
  if (leaf) leaf.push(template);
  else miner.leaves.set(key, [template]);
  miner.size++;
}

function leafKey(words: readonly string[]): string {
  const [first = ""] = words;
  return `${words.length} ${first.includes(VALUE) ? VALUE : first}`;
}
