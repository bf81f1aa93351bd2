/** What a kind of error becomes: over REST, to an agent, and in Temporal. */
export interface ErrorRule {
  /** HTTP status. */
  readonly status: number;
  /** What an agent should do next, as one imperative sentence. */
  readonly next: string;
  /** Whether Temporal should run the activity again. */
  readonly retryable: boolean;
}

/**
 * The one table of what every typed error becomes. The key is the error's `name`.
 *
 * REST answers with `status` and the error's {@linkcode Problem.body}; a tool call gives `isError` with the
 * message and `next`; an activity fails as non-retryable where `retryable` is false.
 */
export const ERRORS = {
  InvalidInput: {
    status: 422,
    next: "Correct the fields that the message names, and call again.",
    retryable: false,
  },
  Unauthenticated: {
    status: 401,
    next: "Send a valid API key; an operator issues one with POST /v1/keys/generate.",
    retryable: false,
  },
  Forbidden: {
    status: 403,
    next: "Ask an operator for a key that may do this; this one may not.",
    retryable: false,
  },
  Denied: {
    status: 403,
    next: "Do not try to get round it: read the reasons, and take another way or ask a person.",
    retryable: false,
  },
  NotFound: {
    status: 404,
    next: "Check the id; list what there is with the matching list tool.",
    retryable: false,
  },
  ReceiptNotFound: {
    status: 404,
    next: "Check the id or hash prefix; ledger.search_receipts lists the newest receipts.",
    retryable: false,
  },
  AmbiguousReceipt: {
    status: 409,
    next: "Use a longer prefix: the message lists the receipts that match.",
    retryable: false,
  },
  ReceiptConflict: {
    status: 409,
    next: "Seal under a new id, or read the receipt that is already there.",
    retryable: false,
  },
  Conflict: {
    status: 409,
    next: "Read the current state, and decide again.",
    retryable: false,
  },
  MethodNotAllowed: { status: 405, next: "Use a method that Allow lists.", retryable: false },
  TooLarge: { status: 413, next: "Send less: a body has at most 1 MiB.", retryable: false },
  UnsupportedMediaType: {
    status: 415,
    next: "Send JSON, as content-type application/json.",
    retryable: false,
  },
  RateLimited: {
    status: 429,
    next: "Wait for the seconds that the message or the header retry-after names, then call again.",
    retryable: true,
  },
  Unavailable: {
    status: 503,
    next: "Wait a few seconds and call again; nothing was changed.",
    retryable: true,
  },
  GuardrailsAway: {
    status: 503,
    next: "Take it for a no, and ask again in a few seconds.",
    retryable: true,
  },
  Cancelled: { status: 499, next: "Call again when you want the answer.", retryable: false },
  OutcomeUnknown: {
    status: 500,
    next: "It may have been done: look at what it acts on before you call again, or ask a person.",
    retryable: false,
  },
  Internal: {
    status: 500,
    next: "Report the request id to an operator; calling again may not help.",
    retryable: true,
  },
} as const satisfies Record<string, ErrorRule>;

/** Name of a kind of error in {@linkcode ERRORS}. */
export type ErrorName = keyof typeof ERRORS;

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
  decided?: { readonly id: string; readonly decision: string; readonly rule: string };

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
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && AWAY.test(code) || LOST.test(error.message) ||
    error.name === "KnexTimeoutError";
}

/** Turns anything thrown into a {@linkcode Problem}, keeping an unknown error only as the cause, for the log. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isAway(error)) {
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
