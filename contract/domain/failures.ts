import type { ErrorName } from "./errors.ts";

/** Meaning of each kind of error for people, who read no names of errors: a sentence without its end. */
const WORDS: Readonly<Record<ErrorName, string>> = {
  InvalidInput: "something it was given does not fit",
  Unauthenticated: "its key is not valid",
  Forbidden: "its key may not do this",
  PasskeyNeeded: "a person has yet to sign it by their passkey",
  Denied: "the rules refuse it",
  NotFound: "what it needs is not there any more",
  ReceiptNotFound: "a receipt that it needs is not there",
  AmbiguousReceipt: "several receipts match",
  ReceiptConflict: "the ledger has another receipt of that id",
  ReceiptTimeRefused: "the clocks of the platform's machines differ",
  Conflict: "something else has changed meanwhile what it works on",
  IdempotencyKeyReused: "its idempotency key was used for another call",
  StillRunning: "the same is still under way",
  MethodNotAllowed: "the request is not one that is answered there",
  TooLarge: "it is too large",
  UnsupportedMediaType: "it is in a format that is not read",
  RateLimited: "there were too many requests",
  NotConfigured: "what it needs is not configured",
  Unavailable: "a part of the platform could not be reached",
  GuardrailsAway: "the guardrails could not be reached",
  Cancelled: "it was cancelled",
  OutcomeUnknown: "nobody can tell what it did",
  Internal: "the platform made an error, of which its log has more",
};

/** Name of an error that no table has; codes begin with a small letter. */
const NAME = /^[A-Z]/;
const TIMEOUT = /Timeout/;

/**
 * Words a failure for people: the name of an error becomes what it means, and a code its words.
 *
 * @returns a sentence without its end
 */
export function describeFailure(code: string): string {
  if (Object.hasOwn(WORDS, code)) return WORDS[code as ErrorName];
  if (!NAME.test(code)) return code.replaceAll("_", " ");
  return TIMEOUT.test(code) ? "it took too long" : WORDS.Internal;
}
