/**
 * Returns the names that a text has as words.
 *
 * @param known all names that count
 */
export function findNames(text: string, known: readonly string[]): string[] {
  const words = new Set(
    text.toLowerCase().split(/[^a-z0-9._-]+/).map((word) => word.replace(/[.]+$/, "")),
  );
  return known.filter((name) => words.has(name.toLowerCase()));
}
