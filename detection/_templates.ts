/**
 * Which kinds of lines there are, learned one line after the other: lines of the same length and beginning that agree in
 * half of their words are of one kind, and the words in which they differ are its values.
 *
 * @see He, Zhu, Zheng, Lyu: Drain: An Online Log Parsing Approach with Fixed Depth Tree, ICWS 2017
 */

/** A kind of lines. */
export interface Template {
  /** Words with `<*>` for values. */
  words: string[];
  count: number;
}

/** What was learned. */
export interface Miner {
  /** By number and first of the words. */
  readonly leaves: Map<string, Template[]>;
  size: number;
}

/** Share of the words in which a line agrees with its kind. */
const ALIKE = 0.5;
/** A log that has more kinds than this is of no kind. */
export const MOST_TEMPLATES = 1_000;
const ANY = "<*>";

/** A miner with what was learned before. @param known texts of templates, with how many lines were of each */
export function openMiner(known: readonly (readonly [string, number])[] = []): Miner {
  const miner: Miner = { leaves: new Map(), size: 0 };
  for (const [text, count] of known) add(miner, { words: text.split(" "), count });
  return miner;
}

/** What was learned, for keeping it. */
export function knownTemplates({ leaves }: Miner): [string, number][] {
  return [...leaves.values()].flat().map(({ words, count }) => [words.join(" "), count]);
}

/**
 * Takes a line in.
 *
 * @returns its kind, and whether none like it was there before; once there are too many kinds, nothing is new
 */
export function learn(
  miner: Miner,
  words: readonly string[],
): { template: string; isNew: boolean } {
  const match = find(miner, words);
  if (match) {
    match.count++;
    match.words = match.words.map((word, i) => word === words[i] ? word : ANY);
    return { template: match.words.join(" "), isNew: false };
  }
  const template = words.join(" ");
  if (words.length === 0 || miner.size >= MOST_TEMPLATES) return { template, isNew: false };
  add(miner, { words: [...words], count: 1 });
  return { template, isNew: true };
}

function find({ leaves }: Miner, words: readonly string[]): Template | undefined {
  let best: Template | undefined;
  let most = -1;
  for (const template of leaves.get(leafOf(words)) ?? []) {
    const same = template.words.filter((word, i) => word === words[i]).length;
    if (same > most) [best, most] = [template, same];
  }
  return most / words.length >= ALIKE ? best : undefined;
}

function add(miner: Miner, template: Template): void {
  const leaf = leafOf(template.words);
  const there = miner.leaves.get(leaf);
  if (there) there.push(template);
  else miner.leaves.set(leaf, [template]);
  miner.size++;
}

const leafOf = (words: readonly string[]) => `${words.length} ${words[0] ?? ""}`;
