/** The consequences of one kind of error: over REST, for an AI agent, and in Temporal. */
export interface ErrorRule {
  /** HTTP status. */
  readonly status: number;
  /** Advice to an AI agent, as one imperative sentence. */
  readonly next: string;
  /** True: Temporal may run the activity again. */
  readonly retryable: boolean;
}

/**
 * Every kind of typed error and its consequences. The key is the error's `name`.
 *
 * REST answers with `status` and the error's body; a tool call returns `isError` with the message and `next`;
 * an activity fails as non-retryable where `retryable` is false.
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
  PasskeyNeeded: {
    status: 403,
    next: "Have the person's passkey sign what `passkey` shows, and call again with the answer.",
    retryable: false,
  },
  Denied: {
    status: 403,
    next: "Do not try to bypass it: read the reasons, then choose another way or ask a person.",
    retryable: false,
  },
  NotFound: {
    status: 404,
    next: "Check the id; the matching list tool shows the ids that exist.",
    retryable: false,
  },
  ReceiptNotFound: {
    status: 404,
    next: "Check the id or hash prefix; ledger.search_receipts lists the newest receipts.",
    retryable: false,
  },
  AmbiguousReceipt: {
    status: 409,
    next: "Use a longer prefix; the message lists the receipts that match.",
    retryable: false,
  },
  ReceiptConflict: {
    status: 409,
    next: "Seal under a new id, or read the receipt that is already there.",
    retryable: false,
  },
  ReceiptTimeRefused: {
    status: 503,
    next: "Call again later; an operator sets the clocks of the platform's machines.",
    retryable: true,
  },
  Conflict: {
    status: 409,
    next: "Read the current state and decide again.",
    retryable: false,
  },
  IdempotencyKeyReused: {
    status: 409,
    next: "Use a new idempotency key for a call with other arguments.",
    retryable: false,
  },
  StillRunning: {
    status: 409,
    next: "Wait a few seconds and call again with the same idempotency key for the answer.",
    retryable: true,
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
  NotConfigured: {
    status: 503,
    next: "Ask an operator to set what the message names.",
    retryable: false,
  },
  Unavailable: {
    status: 503,
    next: "Wait a few seconds and call again; nothing was changed.",
    retryable: true,
  },
  GuardrailsAway: {
    status: 503,
    next: "Treat as denied and ask again in a few seconds.",
    retryable: true,
  },
  Cancelled: { status: 499, next: "Call again when you want the answer.", retryable: false },
  OutcomeUnknown: {
    status: 500,
    next: "It may have been done: check its target before you call again, or ask a person.",
    retryable: false,
  },
  Internal: {
    status: 500,
    next: "Report the request id to an operator; calling again may not help.",
    retryable: true,
  },
} as const satisfies Record<string, ErrorRule>;

/** The name of a kind of error in {@linkcode ERRORS}. */
export type ErrorName = keyof typeof ERRORS;
