/** Minimum similarity of a suggestion; 1 is the same name. */
const MIN_SIMILARITY = 0.4;
const MAX_SUGGESTIONS = 3;

/** Returns up to three of `names` that are similar to `name`, most similar first. */
export function similarNames(name: string, names: readonly string[]): string[] {
  const wanted = pairs(name);
  return names.map((other) => ({ other, score: similarity(wanted, pairs(other)) }))
    .filter(({ score }) => score >= MIN_SIMILARITY)
    .sort((a, b) => b.score - a.score || (a.other < b.other ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS).map(({ other }) => other);
}

/** Sørensen–Dice coefficient of two sets of character pairs. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const pair of a) if (b.has(pair)) common++;
  return 2 * common / (a.size + b.size);
}

/** Splits a text into pairs of neighbouring characters, each in sorted order, as swapped letters are a common typo. */
function pairs(text: string): Set<string> {
  const padded = ` ${text.toLowerCase()} `;
  return new Set(Array.from({ length: padded.length - 1 }, (_, at) => {
    const [a, b] = [padded[at]!, padded[at + 1]!];
    return a < b || a === " " || b === " " ? a + b : b + a;
  }));
}

/**
 * Says that there is no thing of a name, and which names are similar. `names` must be ones that the caller may see.
 *
 * @param otherwise where none is similar: a part of a sentence that says how to find the names
 */
export function describeUnknownName(
  kind: string,
  name: string,
  names: readonly string[],
  otherwise: string,
): string {
  const similar = similarNames(name, names);
  const advice = similar.length > 0 ? `did you mean ${similar.join(" or ")}?` : otherwise;
  return `There is no ${kind} ${name}; ${advice}`;
}
