/**
 * Kinds of lines ("templates"), learned line by line: lines of the same length and beginning that agree in half of their
 * words have one template, and the words in which they differ are values.
 *
 * @see He, Zhu, Zheng, Lyu: Drain: An Online Log Parsing Approach with Fixed Depth Tree, ICWS 2017
 */

/** A template of lines. */
export interface Template {
  /** Words, with `<*>` for values. */
  words: string[];
  /** Number of lines that have it. */
  count: number;
}

/** Templates that were learned. */
export interface TemplateMiner {
  /** Templates by number and first of their words. */
  readonly leaves: Map<string, Template[]>;
  size: number;
}

/** Share of its words in which a line agrees with its template. */
const MIN_AGREEMENT = 0.5;
/** A log with more templates than this has lines without any order. */
const MAX_TEMPLATES = 1_000;
const VALUE = "<*>";

/** Opens a miner. @param known texts of templates, with how many lines have each */
export function openMiner(known: readonly (readonly [string, number])[] = []): TemplateMiner {
  const miner: TemplateMiner = { leaves: new Map(), size: 0 };
  for (const [text, count] of known) add(miner, { words: text.split(" "), count });
  return miner;
}

/** Lists the templates that were learned, as {@linkcode openMiner} takes them. */
export function listTemplates({ leaves }: TemplateMiner): [string, number][] {
  return [...leaves.values()].flat().map(({ words, count }) => [words.join(" "), count]);
}

/**
 * Learns from a line.
 *
 * @returns its template, and whether that is new; once there are too many templates, none is new
 */
export function learnLine(
  miner: TemplateMiner,
  words: readonly string[],
): { template: Template; isNew: boolean } {
  const match = find(miner, words);
  if (match) {
    match.count++;
    match.words = match.words.map((word, i) => word === words[i] ? word : VALUE);
    return { template: match, isNew: false };
  }
  const template = { words: [...words], count: 1 };
  if (words.length === 0 || miner.size >= MAX_TEMPLATES) return { template, isNew: false };
  add(miner, template);
  return { template, isNew: true };
}

function find({ leaves }: TemplateMiner, words: readonly string[]): Template | undefined {
  let best: Template | undefined;
  let most = -1;
  for (const template of leaves.get(leafKey(words)) ?? []) {
    const same = template.words.filter((word, i) => word === words[i]).length;
    if (same > most) [best, most] = [template, same];
  }
  return most / words.length >= MIN_AGREEMENT ? best : undefined;
}

function add(miner: TemplateMiner, template: Template): void {
  const key = leafKey(template.words);
  const leaf = miner.leaves.get(key);
  if (leaf) leaf.push(template);
  else miner.leaves.set(key, [template]);
  miner.size++;
}

function leafKey(words: readonly string[]): string {
  return `${words.length} ${words[0] ?? ""}`;
}
