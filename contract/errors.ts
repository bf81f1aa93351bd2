import { type ErrorName, type ErrorRule, ERRORS } from "./domain/mod.ts";

/**
 * An error whose message is for the caller: it says what was wrong and what would be right.
 *
 * Any other thrown error becomes `Internal`, and its text never leaves the process.
 */
export class Problem extends Error {
  override readonly name: ErrorName;
  /** Receipt of the refused or failed call, once it is sealed. */
  receiptId?: string;
  /** The governance decision that ended the call. */
  governance?: { readonly id: string; readonly decision: string; readonly rule: string };

  /**
   * @param name kind, which decides status, advice and retries
   * @param message for the caller, without secrets, paths or queries
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

  /** The status, advice and retry rule of this kind of error. */
  get rule(): ErrorRule {
    return ERRORS[this.name];
  }

  /** The response body: `{detail}`, unless this error has a shape of its own. */
  get body(): Readonly<Record<string, unknown>> {
    return this.extra.body ?? { detail: this.message };
  }
}

/** One problem of an input. `path` starts at the input's fields; over REST the field's place is put before it. */
export interface Issue {
  readonly path: readonly (string | number)[];
  readonly msg: string;
  /** Machine-readable kind, in the words of FastAPI's validation errors: `missing`, `int_parsing`, … */
  readonly type: string;
}

/** The input does not fit the operation's schema. */
export class InvalidInput extends Problem {
  /** @param issues at least one @param headers of the response */
  constructor(readonly issues: readonly Issue[], headers?: Readonly<Record<string, string>>) {
    super(
      "InvalidInput",
      issues.map((i) => `${i.path.join(".") || "input"}: ${i.msg}`).join("; "),
      headers ? { headers } : {},
    );
  }
}

/** Codes of Node and PostgreSQL for a server that does not answer, is not ready or has closed the connection. */
const AWAY_CODE =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|08\w{3}|57P0[1-5]|53300)$/;
/** Messages of `pg` for the same, which have no code. */
const AWAY_MESSAGE =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect)/;

/** Returns true where an error means that the database can't be reached at the moment. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && AWAY_CODE.test(code) || AWAY_MESSAGE.test(error.message) ||
    error.name === "KnexTimeoutError";
}

/** Code by which the database refuses a request to seal whose time is not that of its clock. */
const TIME_REFUSED = "22S01";

/** Returns true where the database refuses a request to seal as its time is not that of its clock. */
export function isReceiptTimeRefused(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === TIME_REFUSED;
}

/** Converts anything thrown into a {@linkcode Problem}. An unknown error is kept only as the cause, for the log. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isDatabaseAway(error)) {
    const message = "The database can't be reached at the moment; try again in a few seconds";
    return new Problem("Unavailable", message, { cause: error, headers: { "retry-after": "5" } });
  }
  if (isReceiptTimeRefused(error)) {
    return new Problem("ReceiptTimeRefused", (error as Error).message, { cause: error });
  }
  return new Problem(
    "Internal",
    "The service failed to do this; the request id is in x-request-id",
    { cause: error },
  );
}
