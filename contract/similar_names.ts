/** Least likeness that is worth a suggestion; 1 is the same. */
const LIKE = 0.4;
const MOST = 3;

/** Of these names the few that are most like one that is not among them; none where nothing is like it. */
export function similarNames(name: string, names: readonly string[]): string[] {
  const wanted = pairs(name);
  return names.map((other) => ({ other, likeness: likeness(wanted, pairs(other)) }))
    .filter(({ likeness }) => likeness >= LIKE)
    .sort((a, b) => b.likeness - a.likeness || (a.other < b.other ? -1 : 1))
    .slice(0, MOST).map(({ other }) => other);
}

/** Sørensen–Dice coefficient over pairs of characters, whichever comes first: letters are often swapped. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const pair of a) if (b.has(pair)) common++;
  return 2 * common / (a.size + b.size);
}

function pairs(text: string): Set<string> {
  const padded = ` ${text.toLowerCase()} `;
  return new Set(Array.from({ length: padded.length - 1 }, (_, at) => {
    const [a, b] = [padded[at]!, padded[at + 1]!];
    return a < b || a === " " || b === " " ? a + b : b + a;
  }));
}
