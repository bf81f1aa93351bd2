import { type ErrorName, type ErrorRule, ERRORS } from "../domain/mod.ts";

/**
 * An error that the caller is meant to read: its message says what was wrong and what would be right.
 *
 * Anything else that is thrown becomes `Internal`, whose text never leaves the process.
 */
export class Problem extends Error {
  override readonly name: ErrorName;
  /** Receipt of the refused or failed call, once it is sealed. */
  receiptId?: string;
  /** What governance decided on the call, where that is why it ended so. */
  governance?: { readonly id: string; readonly decision: string; readonly rule: string };

  /**
   * @param name kind, which decides status, advice and retrying
   * @param message a sentence for the caller, without secrets, paths or queries
   * @param extra fields of the body besides or instead of `detail`, and response headers
   */
  constructor(
    name: ErrorName,
    message: string,
    readonly extra: {
      readonly body?: Readonly<Record<string, unknown>>;
      readonly headers?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: extra.cause });
    this.name = name;
  }

  /** What this kind of error becomes. */
  get rule(): ErrorRule {
    return ERRORS[this.name];
  }

  /** The response body: `{detail}` unless the contract gives this error another shape. */
  get body(): Readonly<Record<string, unknown>> {
    return this.extra.body ?? { detail: this.message };
  }
}

/** One thing wrong with the input. `path` starts at the input's own fields; a door puts its place before it. */
export interface Issue {
  readonly path: readonly (string | number)[];
  readonly msg: string;
  /** Machine-readable kind, in the words of FastAPI's validation errors: `missing`, `int_parsing`, … */
  readonly type: string;
}

/** The input does not fit the operation's schema. */
export class InvalidInput extends Problem {
  /** @param issues at least one */
  constructor(readonly issues: readonly Issue[]) {
    super(
      "InvalidInput",
      issues.map((i) => `${i.path.join(".") || "input"}: ${i.msg}`).join("; "),
    );
  }
}

/** Codes of Node and PostgreSQL for: nobody answers, not at the moment, or not any more. */
const AWAY =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|08\w{3}|57P0[1-5]|53300)$/;
/** What pg says where it has no code. */
const LOST = /^(Connection terminated|timeout expired|timeout exceeded when trying to connect)/;

/** Whether an error says that the database can't be reached at the moment. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && AWAY.test(code) || LOST.test(error.message) ||
    error.name === "KnexTimeoutError";
}

/** Turns anything thrown into a {@linkcode Problem}, keeping an unknown error only as the cause, for the log. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isDatabaseAway(error)) {
    const message = "The database can't be reached at the moment; try again in a few seconds";
    return new Problem("Unavailable", message, { cause: error, headers: { "retry-after": "5" } });
  }
  return new Problem(
    "Internal",
    "The service failed to do this; the request id is in x-request-id",
    {
      cause: error,
    },
  );
}
