/** A mistake in a file. */
export interface Mistake {
  /** From 1. */
  readonly line: number;
  /** From 1; undefined: unknown. */
  readonly column?: number;
  /** Description of the mistake, and where known what would be right. It may have names that the file has. */
  readonly text: string;
  /** The same in words of the schema alone, which everybody may read; undefined: there are none. */
  readonly open?: string;
}

/** A file that operators write is wrong. */
export class BadFile extends Error {
  override readonly name: string = "BadFile";

  /** @param path of the file; left out: whoever reads it knows it */
  constructor(readonly mistakes: readonly Mistake[], readonly path?: string) {
    super(
      path === undefined
        ? mistakes.map(({ line, text }) => `line ${line}: ${text}`).join("; ")
        : `Cannot use ${path}:\n${formatMistakes(mistakes)}`,
    );
  }
}

/** Formats mistakes as a message, one a line. */
function formatMistakes(mistakes: readonly Mistake[]): string {
  return mistakes.map(({ line, text }) => `  line ${line}: ${text}`).join("\n");
}
