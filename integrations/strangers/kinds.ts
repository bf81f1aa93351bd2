/** Kinds of what strangers send and the pool parses. `processes/_parser_program.ts` has the parser of each. */
const PARSED_KINDS = ["mail", "alerts", "log_lines", "log_errors", "log_watch"] as const;

/** A kind of what strangers send. */
export type ParsedKind = typeof PARSED_KINDS[number];

/** A parser of the pool: from bytes, and parameters of ours, to a value that JSON can carry. */
export type Parser = (bytes: Buffer, parameters: unknown) => unknown;
