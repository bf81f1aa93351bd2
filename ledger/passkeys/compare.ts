/** The lines of several approvals side by side: what all have is shown once, and the rest with each. */

/** Stands where the lines differ. */
export const DIFFERS = "…";

/** Lines that were compared. */
interface Compared {
  /** Those of the first, with {@linkcode DIFFERS} where another one has others. */
  readonly shared: readonly string[];
  /** Of each, the lines for which the mark stands. With the shared ones they are all of its lines. */
  readonly own: readonly (readonly string[])[];
}

/**
 * Compares the lines of approvals, field by field, and within a field line by line where all have as many.
 *
 * @param all as `shownLines` makes them, at least one
 */
export function compareLines(all: readonly (readonly string[])[]): Compared {
  const fields = all.map(fieldsOf);
  const shared: string[] = [];
  const own: string[][] = all.map(() => []);
  for (const name of new Set(fields.flatMap((one) => [...one.keys()]))) {
    const texts = fields.map((one) => one.get(name) ?? []);
    const [first] = texts as [readonly string[]];
    const isAligned = texts.every(({ length }) => length === first.length);
    for (let n = 0; n < (isAligned ? first.length : 1); n++) {
      const rows = isAligned ? texts.map((lines) => [lines[n]!]) : texts;
      if (rows.every(([line]) => isAligned && line === first[n])) shared.push(first[n]!);
      else {
        if (shared.at(-1) !== DIFFERS) shared.push(DIFFERS);
        for (const [at, lines] of rows.entries()) own[at]!.push(...lines);
      }
    }
  }
  return { shared, own };
}

/** Returns the lines of each field, by its name. */
function fieldsOf(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  let name = "";
  for (const line of lines) {
    if (!line.startsWith(" ")) name = line.split("  ", 1)[0]!;
    fields.set(name, [...fields.get(name) ?? [], line]);
  }
  return fields;
}
